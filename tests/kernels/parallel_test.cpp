// The pool of threads: all is done once, errors reach the caller, nested and simultaneous calls run, children of a fork
// compute; and products, sums and draws of sizes that are cut give the bits of one thread.
#include "ricci/primitive/parallel.h"

#include <gtest/gtest.h>
#include <ricci/ricci.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <complex>
#include <functional>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "ricci/primitive/pool.h"
#include "support/threads.h"

namespace ricci::kernels {
namespace {

constexpr double long_enough = 1e6;  // nanoseconds for each unit: worth any thread

/// Puts the number of threads back.
class Parallel : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_thread_count(GetParam()); }
  void TearDown() override { set_thread_count(before_); }

 private:
  int before_ = thread_count();
};

TEST_P(Parallel, DoesEveryUnitOnce) {
  for (const std::int64_t size : {0, 1, 2, 3, 17, 64, 1000}) {
    for (const std::int64_t step : {1, 5, 64}) {
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(size));
      parallel_for({size, long_enough, step}, [&](std::int64_t begin, std::int64_t end) {
        EXPECT_EQ(begin % step, 0);
        EXPECT_LT(begin, end);
        for (std::int64_t i = begin; i < end; ++i) ++done[static_cast<std::size_t>(i)];
      });
      for (const std::atomic<int>& count : done) ASSERT_EQ(count, 1);
    }
  }
}

TEST_P(Parallel, UsesNoMoreThreadsThanItMay) {
  std::mutex mutex;
  std::set<std::thread::id> seen;
  for (int i = 0; i < 50; ++i) {
    parallel_for({64, long_enough}, [&](std::int64_t, std::int64_t) {
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
  }
  EXPECT_LE(seen.size(), static_cast<std::size_t>(GetParam()));
}

TEST_P(Parallel, NestedWorkRunsWhereItIsAsked) {
  std::atomic<std::int64_t> total = 0;
  parallel_for({20, long_enough}, [&](std::int64_t begin, std::int64_t end) {
    const std::thread::id here = std::this_thread::get_id();
    parallel_for({(end - begin) * 10, long_enough}, [&](std::int64_t b, std::int64_t e) {
      EXPECT_EQ(std::this_thread::get_id(), here);
      total += e - b;
    });
  });
  EXPECT_EQ(total, 200);
}

TEST_P(Parallel, AnErrorOfAPieceReachesTheCallerAndThePoolWorksOn) {
  for (int i = 0; i < 100; ++i) {
    const auto bad = static_cast<std::int64_t>(i % 40);
    EXPECT_THROW(parallel_for({40, long_enough},
                              [&](std::int64_t begin, std::int64_t end) {
                                if (begin <= bad && bad < end) throw std::out_of_range("bad");
                              }),
                 std::out_of_range);
    std::atomic<std::int64_t> total = 0;
    parallel_for({40, long_enough}, [&](std::int64_t begin, std::int64_t end) { total += end - begin; });
    EXPECT_EQ(total, 40);
  }
}

TEST_P(Parallel, AFailedAllocationOfAPieceReachesTheCaller) {
  const std::size_t before = pool::bytes_in_use();
  for (int i = 0; i < 20; ++i) {
    EXPECT_THROW(parallel_for({40, long_enough},
                              [&](std::int64_t begin, std::int64_t end) {
                                for (std::int64_t unit = begin; unit < end; ++unit) {
                                  if (unit == 2 * i) pool::fail_after(1);
                                  pool::release(pool::allocate(100'000), 100'000);
                                }
                              }),
                 std::bad_alloc);
  }
  EXPECT_EQ(pool::bytes_in_use(), before) << "memory is kept";
}

TEST_P(Parallel, ThreadsOfTheProgramsOwnWorkBesideThePool) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        std::atomic<std::int64_t> total = 0;
        parallel_for({100, long_enough}, [&](std::int64_t begin, std::int64_t end) { total += end - begin; });
        if (total != 100) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(Parallel, AChildOfAForkComputes) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer starts no threads after a fork";
#endif
  std::atomic<std::int64_t> total = 0;
  const auto count = [&](std::int64_t begin, std::int64_t end) { total += end - begin; };
  parallel_for({100, long_enough}, count);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);  // instead of hanging
    parallel_for({100, long_enough}, count);
    _exit(total == 200 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  parallel_for({100, long_enough}, count);
  EXPECT_EQ(total, 200);
}

INSTANTIATE_TEST_SUITE_P(, Parallel, testing::Values(1, 2, 3, 7), [](const testing::TestParamInfo<int>& info) {
  return std::to_string(info.param) + "Threads";
});

TEST(LittleWork, StaysOnItsThread) {
  const std::thread::id here = std::this_thread::get_id();
  for (int i = 0; i < 100; ++i) {
    parallel_for({1000, 0.5}, [&](std::int64_t begin, std::int64_t end) {
      EXPECT_EQ(std::this_thread::get_id(), here);
      EXPECT_EQ(end - begin, 1000);
    });
  }
}

// --- The same bits for any number of threads, at sizes that are cut

void expect_same_bits(const std::function<Tensor()>& f, const char* what) {
  const auto bytes = [&] {
    const std::vector<std::complex<double>> elements = f().to_vector<std::complex<double>>();
    const auto* data = reinterpret_cast<const unsigned char*>(elements.data());
    return std::vector<unsigned char>(data, data + elements.size() * sizeof elements[0]);
  };
  testing_support::expect_same_with_any_threads(bytes, what);
}

Tensor numbers(const Shape& shape, DType dtype = DType::float32) { return normal(Key(1), shape).to(dtype); }

TEST(ThreadsGiveTheSameBits, Sums) {
  for (const std::int64_t n : {70'001, 262'144, 1'000'003}) {
    const Tensor x = numbers({n});
    expect_same_bits([&] { return x.sum(); }, "sum");
    expect_same_bits([&] { return norm(x); }, "norm");
    expect_same_bits([&] { return x.to(DType::float64).mean(); }, "mean");
    expect_same_bits([&] { return logsumexp(x, 0); }, "logsumexp");
    expect_same_bits([&] { return var(x); }, "var");
    expect_same_bits([&] { return argmax(x); }, "argmax");
    expect_same_bits([&] { return max(x); }, "max");
  }
  for (const Shape& shape : {Shape{100'003, 3}, Shape{40'001, 48}, Shape{3, 50'001, 5}, Shape{1000, 333}}) {
    const Tensor x = numbers(shape);
    for (std::int64_t axis = 0; axis < x.dim(); ++axis) {
      expect_same_bits([&] { return x.sum(axis); }, "sum along an axis");
      expect_same_bits([&] { return softmax(x, axis); }, "softmax");
      expect_same_bits([&] { return cumsum(x, axis); }, "cumsum");
    }
    expect_same_bits([&] { return x.transpose(0, 1).sum({0}); }, "sum of a transpose");
  }
}

TEST(ThreadsGiveTheSameBits, Products) {
  struct Sizes {
    std::int64_t m, n, k;
  };
  for (const auto& [m, n, k] :
       {Sizes{611, 503, 254}, Sizes{385, 810, 97}, Sizes{1, 3000, 1000}, Sizes{3000, 1, 1000}, Sizes{2001, 17, 33},
        Sizes{300, 1100, 90}, Sizes{9000, 5, 5}, Sizes{900, 900, 1}, Sizes{513, 503, 254}}) {
    for (const DType dtype : {DType::float32, DType::float64, DType::complex64, DType::float16, DType::int32}) {
      if (dtype == DType::int32 && m * n * k > 10'000'000) continue;
      const Tensor a = (numbers({m, k}) * 3).to(dtype), b = (numbers({k, n}) * 3).to(dtype);
      const Tensor at = a.t().contiguous().t(), bt = b.t().contiguous().t();
      expect_same_bits([&] { return matmul(a, b); }, "matmul");
      expect_same_bits([&] { return matmul(at, b); }, "matmul of a transpose");
      expect_same_bits([&] { return matmul(a, bt); }, "matmul with a transpose");
    }
  }
}

TEST(ThreadsGiveTheSameBits, BatchesOfMatrices) {
  for (const std::int64_t n : {3, 16, 40, 70}) {
    for (const DType dtype : {DType::float32, DType::float64}) {
      const Tensor a = numbers({131, n, n}, dtype);
      const Tensor spd = matmul(a, a.transpose(1, 2)) + static_cast<double>(n) * eye(n, dtype);
      expect_same_bits([&] { return matmul(a, a); }, "matmul");
      expect_same_bits([&] { return cholesky(spd); }, "cholesky");
      expect_same_bits([&] { return solve(spd, a); }, "solve");
      expect_same_bits([&] { return inv(spd); }, "inv");
      expect_same_bits([&] { return std::get<0>(eigh(spd)); }, "eigh");
    }
  }
}

TEST(ThreadsGiveTheSameBits, DrawsAndElements) {
  expect_same_bits([] { return normal(Key(3), {300'001}); }, "normal");
  expect_same_bits([] { return uniform(Key(3), {301, 999}, DType::float16); }, "uniform");
  expect_same_bits([] { return randint(Key(3), 0, 10, {300'001}); }, "randint");
  expect_same_bits([] { return gamma(Key(3), full({20'001}, 2.5)); }, "gamma");
  const Tensor x = numbers({701, 503});
  expect_same_bits([&] { return tanh(x) + x * x; }, "elementwise");
  expect_same_bits([&] { return x.t() + x.t().contiguous(); }, "transposed");
  expect_same_bits([&] { return x.t().contiguous(); }, "copy");
  expect_same_bits([&] { return exp(x) + x[3]; }, "broadcast");
  expect_same_bits([&] { return std::get<0>(sort(x, 1)); }, "sort");
  expect_same_bits([&] { return numbers({5'000'000}) * 2.0; }, "past the caches");
}

TEST(ThreadsGiveTheSameBits, Rearrangements) {
  const Tensor x = numbers({701, 503});
  expect_same_bits([] { return zeros({1'000'003}); }, "zeros");
  expect_same_bits([&] { return flip(x, {0}) + flip(x, {1}) * 2.0 + flip(x, {0, 1}) * 4.0; }, "flip");
  expect_same_bits([&] { return flip(x.t(), {0}); }, "flip of a transpose");
  expect_same_bits([&] { return tril(x, -3) + triu(x, 5) * 2.0; }, "triangles");
  expect_same_bits([&] { return nonzero(x > 0.3); }, "nonzero");
  expect_same_bits([&] { return nonzero((x > 0.3).t()); }, "nonzero of a transpose");
  expect_same_bits([&] { return nonzero(x.reshape({-1}) > 1.5); }, "nonzero of a vector");
}

TEST(ThreadsGiveTheSameBits, LongScans) {
  for (const Shape& shape : {Shape{1'000'003}, Shape{3, 300'001}, Shape{300'001, 3}}) {
    const Tensor x = numbers(shape);
    const std::int64_t axis = shape[0] == 3 ? 1 : 0;
    for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::int32})
      expect_same_bits([&] { return cumsum((x * 3.0).to(dtype), axis); }, "cumsum");
    expect_same_bits([&] { return cumprod(1.0 + x * 1e-4, axis); }, "cumprod");
    expect_same_bits([&] { return logcumsumexp(x, axis); }, "logcumsumexp");
    expect_same_bits([&] { return grad([&](const Tensor& y) { return (cumsum(y, axis) * y).sum(); })(x); },
                     "the gradient of cumsum");
  }
}

TEST(ThreadsGiveTheSameBits, Places) {
  const Tensor rows = numbers({1003, 1100}), indices = randint(Key(2), 0, 40, {1003});
  const Tensor table = numbers({40, 1100});
  expect_same_bits([&] { return index_add(table, 0, indices, rows); }, "index_add");
  expect_same_bits([&] { return index_add(table.t(), 1, indices, rows.t()); }, "index_add of columns");
  expect_same_bits([&] { return index_select(table, 0, indices); }, "index_select");
  const Tensor places = randint(Key(4), 0, 40, {1003, 1100});
  expect_same_bits([&] { return scatter_add(table, 0, places, rows); }, "scatter_add");
  expect_same_bits([&] { return scatter(table, 0, places, rows); }, "scatter");
  expect_same_bits([&] { return scatter_add(table.t(), 1, places.t(), rows.t()); }, "scatter_add of columns");
  expect_same_bits([&] { return gather(table, 0, places); }, "gather");
}

TEST(ThreadsGiveTheSameBits, TheFirstIndexThatIsOutOfRange) {
  const Tensor table = numbers({40});
  Tensor indices = randint(Key(2), 0, 40, {300'001});
  for (const std::int64_t place : {300'000, 150'001, 17}) {
    indices[place] = place + 40;
    for (const int threads : {1, 2, 3, 7}) {
      const int before = thread_count();
      set_thread_count(threads);
      try {
        index_select(table, 0, indices);
        ADD_FAILURE() << "no error";
      } catch (const IndexError& error) {
        EXPECT_NE(std::string(error.what()).find(std::to_string(place + 40)), std::string::npos) << error.what();
      }
      set_thread_count(before);
    }
  }
}

TEST(ThreadsGiveTheSameBits, Convolutions) {
  const Tensor images = numbers({29, 16, 33, 31}), kernels = numbers({32, 16, 3, 3});
  const auto by_images = grad([&](const Tensor& x) { return square(conv2d(x, kernels)).sum(); });
  const auto by_kernels = grad([&](const Tensor& w) { return square(conv2d(images, w)).sum(); });
  expect_same_bits([&] { return conv2d(images, kernels); }, "conv2d");
  expect_same_bits([&] { return by_images(images); }, "by the images");
  expect_same_bits([&] { return by_kernels(kernels); }, "by the kernels");
  const Tensor doubles = images.to(DType::float64);
  expect_same_bits([&] { return conv2d(doubles, kernels.to(DType::float64)); }, "conv2d of doubles");
  expect_same_bits([&] { return max_pool2d(images, {2, 2}); }, "max_pool2d");
  expect_same_bits([&] { return avg_pool2d(images, {2, 2}); }, "avg_pool2d");
}

TEST(NumThreads, IsWhatWasSet) {
  const int before = num_threads();
  set_num_threads(3);
  EXPECT_EQ(num_threads(), 3);
  set_num_threads(before);
  EXPECT_EQ(num_threads(), before);
}

TEST(NumThreads, BelowOneIsAnError) {
  for (const int n : {0, -1}) {
    try {
      set_num_threads(n);
      ADD_FAILURE() << "no error";
    } catch (const ValueError& error) {
      EXPECT_EQ(std::string(error.what()).find("set_num_threads: got " + std::to_string(n) + "; pass 1 or more"), 0U)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace ricci::kernels
