// expect: ricci: a differentiated argument must be able to hold a Tensor
#include <ricci/ricci.h>

class Model {
 public:
  ricci::Tensor apply() const { return weight_.sum(); }

 private:
  ricci::Tensor weight_ = ricci::ones({3});
};

void misuse() {
  ricci::jacrev([](Model m) { return m.apply(); })(Model());
}
