// The one place that looks at the elements of a program's numbers.
#include "program/constants.h"

#include <charconv>
#include <cmath>
#include <cstring>

#include "program/text.h"
#include "ricci/primitive/parameters.h"

namespace ricci {
namespace {

const void* element_of(const Value& number) { return static_cast<const Array&>(number).data; }

/// A floating number says so: `2.0`.
template <class T>
std::string digits(T value) {
  char text[32];
  std::string found(text, std::to_chars(text, text + sizeof text, value).ptr);
  if constexpr (std::is_floating_point_v<T>)
    if (found.find_first_not_of("-0123456789") == std::string::npos) found += ".0";
  return found;
}

template <class T>
std::string element_text(const T& value) {
  if constexpr (std::is_same_v<T, bool>) return value ? "true" : "false";
  else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
    return "(" + digits(value.real()) + "," + digits(value.imag()) + ")";
  else if constexpr (std::is_integral_v<T> || std::is_same_v<T, double>) return digits(value);
  else return digits(static_cast<float>(value));
}

template <class T>
T taken(std::string_view& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) raise_expected("a number", text);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

template <class T>
T element_taken(std::string_view& text) {
  using parameters::expect;
  if constexpr (std::is_same_v<T, bool>) {
    bool value = false;
    parameters::parse(value, text);
    return value;
  } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    using Part = typename T::value_type;
    expect(text, "(");
    const Part real = taken<Part>(text);
    expect(text, ",");
    const Part imaginary = taken<Part>(text);
    expect(text, ")");
    return {real, imaginary};
  } else if constexpr (std::is_integral_v<T> || std::is_same_v<T, double>) {
    return taken<T>(text);
  } else {
    return T(taken<float>(text));
  }
}

ValueRef number_taken(DType dtype, bool weak, std::string_view& text) {
  const ArrayRef array = make_array({.dtype = dtype, .shape = {}, .weak = weak});
  visit_dtype(dtype, [&]<class T>(std::type_identity<T>) { *static_cast<T*>(array->data) = element_taken<T>(text); });
  return array;
}

/// The dtypes of C++ numbers, whose text shows which it is.
bool is_plain(const Type& type) {
  return type.weak && (type.dtype == DType::boolean || type.dtype == DType::int64 || type.dtype == DType::float64);
}

/// Letters and digits, from the front.
std::string_view word_of(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && std::isalnum(static_cast<unsigned char>(text[n])) != 0) ++n;
  return text.substr(0, n);
}

}  // namespace

NumberBits bits_of(const Value& number) {
  NumberBits key{.dtype = number.type.dtype, .weak = number.type.weak, .bits = {}};
  std::memcpy(key.bits.data(), element_of(number), element_size(key.dtype));
  return key;
}

std::string number_text(const Value& number) {
  const Type& type = number.type;
  const std::string text = visit_dtype(type.dtype, [&]<class T>(std::type_identity<T>) {
    return element_text(*static_cast<const T*>(element_of(number)));
  });
  if (is_plain(type)) return text;
  return std::string(type.weak ? "weak " : "") + short_name(type.dtype) + "(" + text + ")";
}

std::optional<ValueRef> parse_number(std::string_view& text) {
  std::string_view rest = text;
  const bool weak = parameters::take(rest, "weak ");
  for (int i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (!parameters::take(rest, std::string(short_name(dtype)) + "(")) continue;
    text = rest;
    ValueRef number = number_taken(dtype, weak, text);
    parameters::expect(text, ")");
    return number;
  }
  const std::string_view word = word_of(text.starts_with("-") ? text.substr(1) : text);
  if (word == "true" || word == "false") return number_taken(DType::boolean, true, text);
  const bool is_number = word == "inf" || word == "nan" || (!word.empty() && word[0] >= '0' && word[0] <= '9');
  if (!is_number) return std::nullopt;
  const std::string_view digits = text.substr(0, text.find_first_not_of("-0123456789"));
  const bool is_integer =
      digits == text || std::string_view(".ein").find(text[digits.size()]) == std::string_view::npos;
  return number_taken(is_integer ? DType::int64 : DType::float64, true, text);
}

}  // namespace ricci
