// Each word as C computes it with the same result.
#include "compile/c_words.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "compile/word_formulas.h"

namespace ricci::compiled {

using Binds = CText::Binds;

const char* type_in_c(DType dtype) {
  switch (dtype) {
    case DType::float64:
    case DType::complex128: return "double";
    case DType::float16:
    case DType::bfloat16: return "uint16_t";
    case DType::int64: return "int64_t";
    case DType::int32: return "int32_t";
    case DType::int16: return "int16_t";
    case DType::int8: return "int8_t";
    case DType::uint8:
    case DType::boolean: return "uint8_t";
    default: return "float";
  }
}

namespace {
/// Functions that C's library and NVIDIA's have alike.
struct FunctionOfC {
  Word word;
  const char *of_double, *of_float, *on_device_of_double, *on_device_of_float;
};
// clang-format off: one function after the other, without commas
#define OF_C(name) {Word::name, #name, #name "f", "__nv_" #name, "__nv_" #name "f"},
constexpr FunctionOfC functions_of_c[] = {
    OF_C(exp) OF_C(exp2) OF_C(expm1) OF_C(log) OF_C(log2) OF_C(log10) OF_C(log1p) OF_C(sin) OF_C(cos) OF_C(tan)
    OF_C(asin) OF_C(acos) OF_C(atan) OF_C(sinh) OF_C(cosh) OF_C(tanh) OF_C(asinh) OF_C(acosh) OF_C(atanh) OF_C(cbrt)
    OF_C(erf) OF_C(erfc) OF_C(pow) OF_C(fmod) OF_C(atan2) OF_C(hypot)
    // lgamma_r has a second parameter, for the sign; lgamma would write a global one.
    {Word::lgamma, "lgamma_r", "lgammaf_r", "__nv_lgamma", "__nv_lgammaf"}};
#undef OF_C
// clang-format on

const char* name_among(Word word, DType dtype, const char* FunctionOfC::*of_double,
                       const char* FunctionOfC::*of_float) {
  const auto* const found = std::ranges::find(functions_of_c, word, &FunctionOfC::word);
  if (found == std::end(functions_of_c)) return nullptr;
  return dtype == DType::float64 ? found->*of_double : dtype == DType::float32 ? found->*of_float : nullptr;
}
}  // namespace

const char* name_in_libm(Word word, DType dtype) {
  return name_among(word, dtype, &FunctionOfC::of_double, &FunctionOfC::of_float);
}
const char* name_in_libdevice(Word word, DType dtype) {
  return name_among(word, dtype, &FunctionOfC::on_device_of_double, &FunctionOfC::on_device_of_float);
}

namespace {

bool is_single(DType d) { return d == DType::float32; }
std::string of_type(const char* name, DType d) { return std::string(name) + (is_single(d) ? "f" : ""); }
/// Of the same size, without a sign.
std::string unsigned_type(DType d) { return "uint" + std::to_string(8 * element_size(d)) + "_t"; }

CText call_of(const std::string& name, std::span<const CText> x) {
  std::string text = name + "(";
  for (std::size_t k = 0; k < x.size(); ++k) text += (k ? ", " : "") + x[k].text;
  return {text + ")"};
}
CText joined(const CText& a, const char* by, const CText& b, Binds binds) {
  // Left to right: what stands on the right binds more tightly. Operands of comparisons are sums at least.
  const auto tighter = static_cast<Binds>(static_cast<int>(binds) + 1);
  const Binds left = binds == Binds::comparison ? Binds::sum : binds;
  return {CWords::inside(a, left) + " " + by + " " + CWords::inside(b, tighter), binds};
}
CText cast(const std::string& type, const CText& x) {
  return {"(" + type + ")" + CWords::inside(x, Binds::primary), Binds::unary};
}
CText choice(const CText& truth, const CText& yes, const CText& no) {
  return {CWords::inside(truth, Binds::comparison) + " ? " + CWords::inside(yes, Binds::comparison) + " : " +
              CWords::inside(no, Binds::comparison),
          Binds::conditional};
}
/// Bits of truth values and whole numbers.
CText of_bits(const CText& a, const char* by, const CText& b) {
  return {CWords::inside(a, Binds::unary) + " " + by + " " + CWords::inside(b, Binds::unary), Binds::conditional};
}
/// Numbers wrap: without a sign they do in C, too.
CText wrapped(const CText& a, const char* by, const CText& b, DType d, Binds binds) {
  const bool is_narrow = element_size(d) < 4;  // computed in int, which holds the result
  const auto operand = [&](const CText& x) { return is_narrow ? x : cast(unsigned_type(d), x); };
  return cast(type_in_c(d), joined(operand(a), by, operand(b), binds));
}

}  // namespace

const char* CWords::type_of_value(DType dtype) { return dtype == DType::boolean ? "int" : type_in_c(dtype); }
std::string CWords::inside(const CText& x, Binds least) { return x.binds < least ? "(" + x.text + ")" : x.text; }

bool CNodes::is_name(const std::string& text) {
  return std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; });
}

CText CWords::number(DType dtype, std::uint64_t bits) {
  const auto real = [](double x, bool single) -> CText {
    if (std::isnan(x)) return {"NAN"};
    if (std::isinf(x)) return x > 0 ? CText{"INFINITY"} : CText{"-INFINITY", Binds::unary};
    char text[40];
    // The shortest one that is read back as the number.
    for (int digits = 1; digits <= 17; ++digits) {
      std::snprintf(text, sizeof text, "%.*g", digits, x);
      const bool is_it = single ? std::strtof(text, nullptr) == static_cast<float>(x) : std::strtod(text, nullptr) == x;
      if (is_it) break;
    }
    std::string all = text;
    if (all.find_first_of(".e") == std::string::npos) all += ".0";
    if (single) all += "F";
    return {all, std::signbit(x) ? Binds::unary : Binds::primary};
  };
  switch (dtype) {
    case DType::float64: return real(std::bit_cast<double>(bits), false);
    case DType::float32: return real(std::bit_cast<float>(static_cast<std::uint32_t>(bits)), true);
    case DType::boolean: return {(bits & 1) != 0 ? "1" : "0"};
    case DType::uint8: return {std::to_string(bits & 0xff)};
    case DType::float16:
    case DType::bfloat16: return {std::to_string(bits & 0xffff)};
    default: break;
  }
  const unsigned unused = 64 - 8 * static_cast<unsigned>(element_size(dtype));
  const std::int64_t whole = static_cast<std::int64_t>(bits << unused) >> unused;
  if (whole == INT64_MIN) return {"INT64_MIN"};
  if (whole == INT32_MIN) return {"INT32_MIN"};
  const bool is_long = whole > INT32_MAX || whole < INT32_MIN;
  const std::string size = std::to_string(whole < 0 ? -whole : whole);
  const std::string text = is_long ? "INT64_C(" + size + ")" : size;
  return whole < 0 ? CText{"-" + text, Binds::unary} : CText{text};
}

template <class Write>
CText CWords::call(const std::string& name, std::span<const CText> x, const Write& write) {
  const std::string full = prefix_ + "_" + name;
  if (!std::exchange(written_[name], true)) functions_ += "static " + write(full) + "\n";
  return call_of(full, x);
}

CText CWords::result(const ScalarStep& s, DType d, std::span<const CText> x) {
  switch (s.kind) {
    case StepKind::select: return choice(x[0], x[1], x[2]);
    case StepKind::convert: return converted(x[0], d, s.dtype, s.payload == 1);
    case StepKind::bits: return bits(x[0], d, s.dtype);
    default: return word(s.word, d, x);
  }
}

CText CWords::word(Word w, DType d, std::span<const CText> x) {
  if (d == DType::boolean) return of_truth(w, x);
  if (std::optional<CText> truth = test(w, d, x)) return *truth;
  const std::optional<CText> made = is_float(d) ? of_floats(w, d, x) : of_integers(w, d, x);
  return made ? *made : by_formula(w, d, x);
}

CText CWords::of_truth(Word w, std::span<const CText> x) {
  switch (w) {
    case Word::add:
    case Word::max:
    case Word::logical_or: return of_bits(x[0], "|", x[1]);
    case Word::multiply:
    case Word::min:
    case Word::logical_and: return of_bits(x[0], "&", x[1]);
    case Word::logical_xor: return of_bits(x[0], "^", x[1]);
    default: return {"!" + inside(x[0], Binds::primary), Binds::unary};
  }
}

std::optional<CText> CWords::test(Word w, DType d, std::span<const CText> x) {
  const bool is_below_zero = (d == DType::uint8) && x.size() > 1 && x[1].text == "0";  // compilers warn of it
  switch (w) {
    case Word::equal: return joined(x[0], "==", x[1], Binds::comparison);
    case Word::not_equal: return joined(x[0], "!=", x[1], Binds::comparison);
    case Word::less: return is_below_zero ? CText{"0"} : joined(x[0], "<", x[1], Binds::comparison);
    case Word::less_equal: return joined(x[0], "<=", x[1], Binds::comparison);
    case Word::greater: return joined(x[0], ">", x[1], Binds::comparison);
    case Word::greater_equal: return is_below_zero ? CText{"1"} : joined(x[0], ">=", x[1], Binds::comparison);
    case Word::isnan:
    case Word::isinf:
    case Word::isfinite:
      if (!is_float(d)) return CText{w == Word::isfinite ? "1" : "0"};
      return joined(call_of(scalar::name_of(w), x), "!=", {"0"}, Binds::comparison);
    default: return std::nullopt;
  }
}

std::optional<CText> CWords::of_floats(Word w, DType d, std::span<const CText> x) {
  const std::string type = type_in_c(d);
  const auto of_c = [&](const char* name) { return call_of(of_type(name, d), x); };
  const auto of_two = [&](const char* name, const char* body) {
    return call(name + ("_" + type), x, [&](const std::string& full) {
      return type + " " + full + "(" + type + " a, " + type + " b) { return " + body + "; }";
    });
  };
  switch (w) {
    case Word::add: return joined(x[0], "+", x[1], Binds::sum);
    case Word::subtract: return joined(x[0], "-", x[1], Binds::sum);
    case Word::multiply: return joined(x[0], "*", x[1], Binds::product);
    case Word::divide: return joined(x[0], "/", x[1], Binds::product);
    case Word::negative: return CText{"-" + inside(x[0], Binds::primary), Binds::unary};
    case Word::fma: return of_c("fma");
    case Word::abs: return of_c("fabs");
    case Word::sqrt: return of_c("sqrt");
    case Word::floor: return of_c("floor");
    case Word::ceil: return of_c("ceil");
    case Word::trunc: return of_c("trunc");
    case Word::round: return of_c("nearbyint");
    case Word::copysign: return of_c("copysign");
    case Word::lgamma: return of_c("lgamma");
    case Word::smaller: return of_two("smaller", "a < b ? a : b");
    case Word::larger: return of_two("larger", "a > b ? a : b");
    case Word::min: return of_two("min", "a < b || isnan(a) ? a : b");
    case Word::max: return of_two("max", "a > b || isnan(a) ? a : b");
    case Word::flip_sign: return of_two("flip_sign", "signbit(b) ? -a : a");
    case Word::sign:
      return call("sign_" + type, x, [&](const std::string& full) {
        return type + " " + full + "(" + type + " a) { return (" + type + ")((a > 0) - (a < 0)); }";
      });
    default: break;
  }
  if (const char* const name = name_in_libm(w, d)) return call_of(name, x);
  return std::nullopt;
}

std::optional<CText> CWords::of_integers(Word w, DType d, std::span<const CText> x) {
  const std::string type = type_in_c(d), bits = std::to_string(8 * element_size(d));
  const bool has_sign = d != DType::uint8;
  const auto of_two = [&](const char* name, const std::string& body) {
    return call(name + ("_" + type), x, [&](const std::string& full) {
      return type + " " + full + "(" + type + " a, " + type + " b) {\n  " + body + "\n}";
    });
  };
  const std::string no_bits = "if (" + std::string(has_sign ? "b < 0 || " : "") + "b >= " + bits + ") return ";
  const std::string wide = d == DType::int64 ? "uint64_t" : "uint32_t";
  switch (w) {
    case Word::add: return wrapped(x[0], "+", x[1], d, Binds::sum);
    case Word::subtract: return wrapped(x[0], "-", x[1], d, Binds::sum);
    case Word::multiply: return wrapped(x[0], "*", x[1], d, Binds::product);
    case Word::negative: return wrapped({"0"}, "-", x[0], d, Binds::sum);
    case Word::fma: {
      const CText product = wrapped(x[0], "*", x[1], d, Binds::product);
      return wrapped(product, "+", x[2], d, Binds::sum);
    }
    case Word::abs:
      if (!has_sign) return x[0];
      return call("abs_" + type, x, [&](const std::string& full) {
        return type + " " + full + "(" + type + " a) { return a < 0 ? " +
               wrapped({"0"}, "-", {"a"}, d, Binds::sum).text + " : a; }";
      });
    case Word::sign:
      if (!has_sign) return joined(x[0], "!=", {"0"}, Binds::comparison);
      return call("sign_" + type, x, [&](const std::string& full) {
        return type + " " + full + "(" + type + " a) { return (" + type + ")((a > 0) - (a < 0)); }";
      });
    case Word::floor:
    case Word::ceil:
    case Word::round:
    case Word::trunc: return x[0];
    case Word::min: return of_two("min", "return a < b ? a : b;");
    case Word::max: return of_two("max", "return a > b ? a : b;");
    case Word::bit_and: return cast(type, of_bits(x[0], "&", x[1]));
    case Word::bit_or: return cast(type, of_bits(x[0], "|", x[1]));
    case Word::bit_xor: return cast(type, of_bits(x[0], "^", x[1]));
    case Word::bit_not: return cast(type, {"~" + inside(x[0], Binds::primary), Binds::unary});
    case Word::left_shift:
      return of_two("left_shift", no_bits + "0;\n  return (" + type + ")((" + wide + ")a << b);");
    case Word::right_shift:
      return of_two("right_shift", has_sign ? no_bits + "a < 0 ? -1 : 0;\n  return (" + type + ")(a >> b);"
                                            : no_bits + "0;\n  return (" + type + ")(a >> b);");
    case Word::trunc_div:
      return of_two("trunc_div", "if (b == 0) return 0;\n  " +
                                     (has_sign ? "if (b == -1) return " +
                                                     wrapped({"0"}, "-", {"a"}, d, Binds::sum).text + ";\n  "
                                               : std::string()) +
                                     "return (" + type + ")(a / b);");
    default: return std::nullopt;
  }
}

/// A function that holds the formula.
CText CWords::by_formula(Word w, DType d, std::span<const CText> x) {
  const std::optional<CalledFunction> formula = written_out(w, d);
  if (!formula) {
    lacking_.emplace_back(w, d);
    return x[0];
  }
  const LaneProgram& program = formula->program;
  const std::string type = type_of_value(d);
  const std::string name = std::string(scalar::name_of(w)) + "_" + short_name(d);
  if (written_[name]) return call_of(prefix_ + "_" + name, x);
  // The functions that it calls come before it, so it is written first.
  std::string lines;
  CNodes nodes{program.graph, *this};
  const Node output = program.outputs[0].node;
  const std::vector<Node> order = program.graph.order(std::vector{output});
  nodes.uses.assign(program.graph.steps().size(), 0);
  for (const Node n : order)
    for (const Node from : program.graph[n].from)
      if (from != no_node) ++nodes.uses[static_cast<std::size_t>(from)];
  const auto leaf = [&](Node n) -> std::optional<CText> {
    const ScalarStep& s = program.graph[n];
    if (s.kind == StepKind::number) return number(s.dtype, s.payload);
    if (s.kind == StepKind::input) return CText{s.payload == 0 ? "a" : "b"};
    return std::nullopt;
  };
  nodes.compute(order, false, leaf, [&](const std::string& line) { lines += "  " + line + "\n"; });
  const std::string result = nodes.value(output, leaf).text;
  return call(name, x, [&](const std::string& full) {
    const std::string second = x.size() > 1 ? ", " + type + " b" : "";
    return type + " " + full + "(" + type + " a" + second + ") {\n" + lines + "  return " + result + ";\n}";
  });
}

CText CWords::bits(const CText& x, DType from, DType to) {
  const std::string name = std::string("bits_of_") + type_in_c(from) + "_in_" + type_in_c(to);
  return call(name, {{x}}, [&](const std::string& full) {
    return std::string(type_in_c(to)) + " " + full + "(" + type_in_c(from) + " a) {\n  union { " + type_in_c(from) +
           " from; " + type_in_c(to) + " to; } both;\n  both.from = a;\n  return both.to;\n}";
  });
}

CText CWords::converted(const CText& x, DType from, DType to, bool is_unsigned) {
  if (from == to) return x;
  if (from == DType::float16 || from == DType::bfloat16) {
    static constexpr const char* of_half = R"((uint16_t a) {
  const int exponent = a >> 10 & 31;
  const float mantissa = (float)(a & 1023);
  float size = exponent == 0 ? ldexpf(mantissa, -24) : ldexpf(mantissa + 1024.0F, exponent - 25);
  if (exponent == 31) size = (a & 1023) != 0 ? NAN : INFINITY;
  return a >> 15 != 0 ? -size : size;
})", *of_bfloat = R"((uint16_t a) {
  union { uint32_t from; float to; } both;
  both.from = (uint32_t)a << 16;
  return both.to;
})";
    const bool is_half = from == DType::float16;
    const CText single =
        call(is_half ? "float_of_half" : "float_of_bfloat16", {{x}},
             [&](const std::string& full) { return "float " + full + (is_half ? of_half : of_bfloat); });
    return converted(single, DType::float32, to);
  }
  if (to == DType::boolean) return joined(x, "!=", {is_float(from) ? number(from, 0).text : "0"}, Binds::comparison);
  if (to == DType::float16 || to == DType::bfloat16) {
    static constexpr const char* to_half = R"((float a) {
  const uint16_t sign = signbit(a) ? 0x8000 : 0;
  const float size = fabsf(a);
  int exponent;
  if (isnan(a)) return (uint16_t)(sign | 0x7e00);
  if (size >= 65520.0F) return (uint16_t)(sign | 0x7c00);
  if (size < 6.103515625e-05F) return (uint16_t)(sign | (int)nearbyintf(ldexpf(size, 24)));
  (void)frexpf(size, &exponent);
  return (uint16_t)(sign | (((exponent + 13) << 10) + (int)nearbyintf(ldexpf(size, 11 - exponent))));
})", *to_bfloat = R"((float a) {
  union { float from; uint32_t to; } both;
  both.from = a;
  if (isnan(a)) return (uint16_t)(both.to >> 16 | 0x40);
  return (uint16_t)((both.to + 0x7fff + (both.to >> 16 & 1)) >> 16);
})";
    const bool is_half = to == DType::float16;
    const CText single[] = {converted(x, from, DType::float32)};
    return call(is_half ? "half_of_float" : "bfloat16_of_float", single,
                [&](const std::string& full) { return "uint16_t " + full + (is_half ? to_half : to_bfloat); });
  }
  if (is_unsigned && is_float(to)) return cast(type_in_c(to), cast(unsigned_type(from), x));
  const bool is_narrow = is_float(from) && !is_float(to) && element_size(to) < 4;
  return cast(type_in_c(to), is_narrow ? cast("int32_t", x) : x);
}

}  // namespace ricci::compiled
