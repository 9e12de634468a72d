// expect: ricci: a differentiated argument must be able to hold a Tensor; a class with constructors or private members
#include <ricci/ricci.h>

class Model {
 public:
  explicit Model(int n) : weight(ricci::ones({n})) {}
  ricci::Tensor weight;
};

void misuse() {
  ricci::grad([](Model m) { return m.weight.sum(); })(Model(3));
}
