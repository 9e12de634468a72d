/* A program in C that calls what exports_model.cpp exported. Exits with 0 if all bits are those of the library. */
#include <stdalign.h>
#include <stdio.h>
#include <string.h>

#include "expected.h"
#include "jacobian.h"
#include "jacobians.h"

static alignas(64) char workspace[JACOBIAN_WORKSPACE_BYTES];
static alignas(64) char workspace_of_many[JACOBIANS_WORKSPACE_BYTES];

int main(void) {
  float result[2 * 7], results[100 * 2 * 7];
  if (jacobian(angles, result, workspace) != 0) return 1;
  if (jacobians(postures, results, workspace_of_many) != 0) return 2;
  if (sizeof result != sizeof expected || memcmp(result, expected, sizeof result) != 0) return 3;
  if (sizeof results != sizeof expected_of_many || memcmp(results, expected_of_many, sizeof results) != 0) return 4;
  printf("the same bits\n");
  return 0;
}
