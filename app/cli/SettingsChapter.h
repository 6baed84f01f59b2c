// The guide's chapter on settings as the program knows it: every key, what each schedule does, every preset with its shape. Printed by
// `config --markdown`; packaging/guide writes it into resources/guide/settings.md.
#pragma once
#include <string>

#include "core/events/SwitchCatalogue.h"

namespace stepscope::cli {

std::string settingsChapter(const SwitchCatalogue& switches);

}  // namespace stepscope::cli
