// Switches as files hold them: checked before anything asks for their value.
#include <gmock/gmock.h>

#include "TinyTraining.h"
#include "core/optimizations/registry/StoredSwitches.h"

namespace stepscope {
namespace {

using ::testing::HasSubstr;

RunConfig with(const std::string& id, const Value& value) {
    RunConfig config = testing::tinyConfig(Registry(testing::plainCpu()));
    config.switches[id] = value;
    return config;
}

TEST(StoredSwitches, AWholeConfigurationComesBackAsItWas) {
    const RunConfig config = testing::tinyConfig(Registry(testing::plainCpu()));
    const auto checked = checkStoredSwitches(config, "Session 3 of s.db");
    ASSERT_TRUE(checked.ok()) << checked.error().sentence;
    EXPECT_EQ(*checked, config);
}

TEST(StoredSwitches, NameTheFileTheSwitchAndTheValueThatCannotStand) {
    for (const auto& [id, value] : std::vector<std::pair<std::string, Value>>{{"amp", std::int64_t{7}},
                                                                              {"fused-qkv", std::int64_t{5}},
                                                                              {"batch-size", std::int64_t{-1}},
                                                                              {"batch-size", std::string("many")},
                                                                              {"context", 12.5},
                                                                              {"grad-clip", std::string("on")},
                                                                              {"validation-every", std::string("week")}}) {
        const auto checked = checkStoredSwitches(with(id, value), "Session 3 of s.db");
        ASSERT_FALSE(checked.ok()) << id;
        EXPECT_EQ(checked.error().code, ErrorCode::Damaged);
        EXPECT_THAT(checked.error().sentence, ::testing::AllOf(HasSubstr("Session 3 of s.db"), HasSubstr(id), HasSubstr(toString(value))));
    }
    EXPECT_THAT(checkStoredSwitches(with("warp-drive", std::string("on")), "s.db").error().sentence, HasSubstr("warp-drive"));
}

TEST(StoredSwitches, ANumberThatIsWrittenAsTextBecomesANumber) {
    const auto checked = checkStoredSwitches(with("batch-size", std::string("9")), "s.db");
    ASSERT_TRUE(checked.ok()) << checked.error().sentence;
    EXPECT_EQ(checked->integer("batch-size"), 9);
}

TEST(StoredSwitches, TheCatalogueIsGivenForAConfigurationThatNoRunCouldHave) {
    const Registry registry(testing::plainCpu());
    RunConfig config;
    for (const auto& entry : allSwitches()) config.switches[entry.id] = std::string("nonsense");
    EXPECT_EQ(registry.catalogue(config).size(), allSwitches().size());
    config.switches["fused-qkv"] = std::int64_t{5};
    EXPECT_EQ(registry.catalogue(config).size(), allSwitches().size());
    const auto complete = registry.complete(config);
    ASSERT_FALSE(complete.ok());
    EXPECT_EQ(complete.error().code, ErrorCode::BadInput);
}

}  // namespace
}  // namespace stepscope
