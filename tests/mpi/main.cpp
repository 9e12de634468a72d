// The test program of several ranks: every rank runs every case. Rank 0 prints as usual, the others print failures.
#include <gtest/gtest.h>
#include <ricci/mpi.h>

#include <iostream>

namespace {

class Failures : public testing::EmptyTestEventListener {
 public:
  explicit Failures(int rank) : rank_(rank) {}
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed())
      std::cerr << "rank " << rank_ << ": " << (result.file_name() ? result.file_name() : "") << ":"
                << result.line_number() << ": " << result.summary() << std::endl;
  }

 private:
  const int rank_;
};

}  // namespace

int main(int argc, char** argv) {
  ricci::mpi::Session session(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  const int rank = ricci::mpi::World().rank();
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  if (rank != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new Failures(rank));
  }
  return RUN_ALL_TESTS();
}
