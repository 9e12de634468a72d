// The machine code of compiled functions, kept in a folder for later processes.
#pragma once

#include <cstdint>
#include <string>

namespace ricci {

/// What the folder of kept code was good for in this process.
struct CompileCacheStats {
  std::int64_t hits = 0;     ///< pieces of code that were found
  std::int64_t misses = 0;   ///< that were not, and were made
  std::int64_t refused = 0;  ///< of the misses: there was an entry, which was damaged
  std::string problem = {};  ///< the first that was met, as a folder that cannot be written; empty: none
};

inline constexpr std::int64_t default_compile_cache_bytes = std::int64_t{256} << 20;

/// From now on the machine code of compiled functions is kept in this folder, and found there by later processes: their
/// first calls record and plan, and need no compiler. Off by default; an empty path switches it off again. The
/// environment's RICCI_COMPILE_CACHE names a folder, too.
///
/// The folder is made where there is none, for this user alone (0700); one that others may enter is not used. Processes
/// may share it. Code is found only by the same build of the library on the same kind of processor. Where the entries
/// have more than `most_bytes` in all, those that were not used for longest go. Whatever is wrong with the folder, or
/// with an entry, costs time and nothing else: code is made as without it, and the first problem is written to stderr
/// once. Whoever can write to the folder as this user can make programs that use it run any code.
///   rc::set_compile_cache("/home/me/.cache/ricci");
void set_compile_cache(const std::string& folder, std::int64_t most_bytes = default_compile_cache_bytes);
/// Zeros where no folder is set.
CompileCacheStats compile_cache_stats();

}  // namespace ricci
