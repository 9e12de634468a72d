// Code that is kept: the last of this process in memory, all in a folder between processes, if the user sets one.
#pragma once

#include <functional>
#include <string>

#include "compile/code.h"

namespace ricci::compiled {

/// Whether a folder is set.
bool keeps_code();
/// The image that this process made or found lately for the key, or that the folder has; else what `make` gives, which
/// then is kept.
Image kept_or_made(const std::function<std::string()>& key, const std::function<Image()>& make);

}  // namespace ricci::compiled
