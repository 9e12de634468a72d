// SLEEF's vector functions, by the names machine.h makes for this translation unit's instruction set. They are declared
// by symbol, so that nobody parses SLEEF's own header. Error bounds are in units in the last place: u10 is 1.0.
#pragma once

#include "ricci/primitive/pack.h"

#define RICCI_SLEEF_SYMBOL(name, type, accuracy) __asm__("Sleef_" name type accuracy RICCI_SLEEF_ISA)

// Declares sleef::word for both element types.
#define RICCI_SLEEF_DECLARE_1(word, name, accuracy)                                                       \
  namespace sleef {                                                                                       \
  Pack<float>::vector word(Pack<float>::vector) RICCI_SLEEF_SYMBOL(name, RICCI_SLEEF_FLOAT, accuracy);    \
  Pack<double>::vector word(Pack<double>::vector) RICCI_SLEEF_SYMBOL(name, RICCI_SLEEF_DOUBLE, accuracy); \
  }
#define RICCI_SLEEF_DECLARE_2(word, name, accuracy)                     \
  namespace sleef {                                                     \
  Pack<float>::vector word(Pack<float>::vector, Pack<float>::vector)    \
      RICCI_SLEEF_SYMBOL(name, RICCI_SLEEF_FLOAT, accuracy);            \
  Pack<double>::vector word(Pack<double>::vector, Pack<double>::vector) \
      RICCI_SLEEF_SYMBOL(name, RICCI_SLEEF_DOUBLE, accuracy);           \
  }
#define RICCI_SLEEF_DECLARE_3(word, name, accuracy)                                           \
  namespace sleef {                                                                           \
  Pack<float>::vector word(Pack<float>::vector, Pack<float>::vector, Pack<float>::vector)     \
      RICCI_SLEEF_SYMBOL(name, RICCI_SLEEF_FLOAT, accuracy);                                  \
  Pack<double>::vector word(Pack<double>::vector, Pack<double>::vector, Pack<double>::vector) \
      RICCI_SLEEF_SYMBOL(name, RICCI_SLEEF_DOUBLE, accuracy);                                 \
  }

// Declares it and makes it the word of that name on packs.
#define RICCI_SLEEF_1(word, name, accuracy)                                        \
  RICCI_SLEEF_DECLARE_1(word, name, accuracy)                                      \
  inline Pack<float> word(Pack<float> x) { return Pack<float>(sleef::word(x.v)); } \
  inline Pack<double> word(Pack<double> x) { return Pack<double>(sleef::word(x.v)); }
#define RICCI_SLEEF_2(word, name, accuracy)                                                            \
  RICCI_SLEEF_DECLARE_2(word, name, accuracy)                                                          \
  inline Pack<float> word(Pack<float> x, Pack<float> y) { return Pack<float>(sleef::word(x.v, y.v)); } \
  inline Pack<double> word(Pack<double> x, Pack<double> y) { return Pack<double>(sleef::word(x.v, y.v)); }
#define RICCI_SLEEF_3(word, name, accuracy)                                  \
  RICCI_SLEEF_DECLARE_3(word, name, accuracy)                                \
  inline Pack<float> word(Pack<float> x, Pack<float> y, Pack<float> z) {     \
    return Pack<float>(sleef::word(x.v, y.v, z.v));                          \
  }                                                                          \
  inline Pack<double> word(Pack<double> x, Pack<double> y, Pack<double> z) { \
    return Pack<double>(sleef::word(x.v, y.v, z.v));                         \
  }
