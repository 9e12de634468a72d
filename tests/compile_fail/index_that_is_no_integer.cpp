// expect: deleted
#include <ricci/ricci.h>

int main() { return ricci::ones({2})[0.5].item<int>(); }
