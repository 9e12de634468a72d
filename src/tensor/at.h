// Numbers of this library are signed, those of containers are not.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ricci {

/// A number that is not negative as a place in a container: `shape[at(axis)]`.
constexpr std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace ricci
