// Sizes read back: numbers, and expressions over the sizes that the installed table of symbols names.
#include <charconv>
#include <optional>

#include "program/text.h"
#include "ricci/primitive/parameters.h"
#include "tensor/symbols.h"

namespace ricci {

void require_extent(Size size, std::string_view text) {
  if (!size.is_symbol() && (size.raw() < -most_of_a_size || size.raw() > most_of_a_size))
    raise_expected("a size that memory can hold", text);
}

namespace parameters {
namespace {

/// `2*s0*s1+1`, `((s0+1)/(2))`.
class SizeParser {
 public:
  explicit SizeParser(std::string_view& text) : text_(text) {}

  Size sum() {
    Size total = take(text_, "-") ? 0 - product() : product();
    for (;;) {
      if (take(text_, "+")) total = total + product();
      else if (take(text_, "-")) total = total - product();
      else return total;
    }
  }

 private:
  Size product() {
    Size result = factor();
    for (;;) {
      const std::string_view before = text_;
      if (take(text_, "*")) {
        result = result * factor();
      } else if (take(text_, "/")) {
        const Size divisor = factor();
        if (divisor.hint() == 0) raise_expected("a divisor that is not 0", before);
        result = result / divisor;
      } else {
        return result;
      }
    }
  }
  Size factor() {
    const std::string_view before = text_;
    if (!take(text_, "(")) return word();
    if (++depth_ > most_parentheses) raise_expected("fewer parentheses", before);
    const Size inside = sum();
    expect(text_, ")");
    --depth_;
    return inside;
  }
  Size word() {
    const std::string_view before = text_;
    const bool is_name = take(text_, "s");
    std::int64_t number = -1;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
    if (error == std::errc::result_out_of_range || number > most_of_a_size)
      raise_expected("a size that memory can hold", before);
    if (error != std::errc() || number < 0) raise_expected("a size", before);
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    if (!is_name) return number;
    if (const std::optional<Size> size = symbol_named(number)) return *size;
    raise_expected("a size of the inputs, the first of which is s0, the next s1", before);
  }

  static constexpr int most_parentheses = 200;
  std::string_view& text_;
  int depth_ = 0;
};

}  // namespace

/// A lone number may be any; one that stands in an expression is an extent, so that nothing overflows.
void parse(Size& value, std::string_view& text) {
  const char* const last = text.data() + text.size();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), last, number);
  const bool goes_on = end != last && std::string_view("+-*/").find(*end) != std::string_view::npos;
  const bool is_alone = error == std::errc() && !goes_on;
  if (is_alone) {
    value = number;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return;
  }
  const std::string_view before = text;
  value = SizeParser(text).sum();
  require_extent(value, before);
}

}  // namespace parameters
}  // namespace ricci
