// SmallVector where an element's copy throws: nothing leaks, nothing is destroyed twice.
#include <gtest/gtest.h>
#include <ricci/small_vector.h>

#include <stdexcept>
#include <vector>

namespace {

/// Counts those alive; every copy after the given number throws.
struct Counted {
  static inline int alive = 0, copies_left = 0;
  Counted() { ++alive; }
  Counted(const Counted&) {
    if (copies_left-- == 0) throw std::runtime_error("no more copies");
    ++alive;
  }
  Counted(Counted&&) noexcept { ++alive; }
  Counted& operator=(const Counted&) = default;
  ~Counted() { --alive; }
};

using Few = ricci::SmallVector<Counted, 2>;

template <class Make>
void expect_no_leak(const Make& make) {
  const int before = Counted::alive;
  for (const int copies : {0, 1, 2, 3}) {
    Counted::copies_left = copies;
    EXPECT_THROW(make(), std::runtime_error);
    EXPECT_EQ(Counted::alive, before) << "after " << copies << " copies";
  }
  Counted::copies_left = -1;
}

TEST(SmallVector, AConstructorThatThrowsDestroysWhatItHasMade) {
  Counted::copies_left = -1;
  const Counted one;
  const std::vector<Counted> many(4);
  Few other;
  for (int i = 0; i < 4; ++i) other.push_back(Counted());
  expect_no_leak([&] { Few(many.begin(), many.end()); });
  expect_no_leak([&] { Few copy(other); });
  expect_no_leak([&] { Few(4, one); });
}

}  // namespace
