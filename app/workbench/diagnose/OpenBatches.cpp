#include "app/workbench/diagnose/OpenBatches.h"

#include "core/memory/HostAllocator.h"

namespace stepscope {

Result<std::shared_ptr<BatchSource>> openBatches(const RunPlan& plan, const LookProgress& progress, const std::atomic<bool>& cancelled) {
    const RunConfig& config = plan.config;
    auto corpus = openCorpus(
                      {.data = config.data,
                       .tokenizer = config.tokenizer,
                       .vocabulary = config.vocabulary,
                       .validationFraction = config.validationFraction,
                       .validation = config.validation,
                       .separator = config.separator,
                       .with = {},
                       .context = plan.context,
                       .seed = static_cast<std::uint64_t>(config.seed),
                       .cacheFolder = {},
                       .keepText = plan.feed.place == TokenPlace::Text,
                       .freeMemory = [] { return host_memory::affordable(); }},
                      [&](const std::string& what, double) {
                          if (progress) progress(what);
                      },
                      cancelled)
                      .about(Subject::Kind::Data, config.data);
    if (!corpus) return corpus.error();
    auto batches = std::make_shared<BatchSource>(std::move(*corpus));
    if (auto good = batches->accepts(plan).about(Subject::Kind::Data, config.data); !good) return good.error();
    return batches;
}

}  // namespace stepscope
