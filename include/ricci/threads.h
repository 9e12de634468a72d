// How many threads the library computes with. One pool serves every operation: loops, reductions, draws, products,
// factorisations and convolutions. Results are the same bits for any number of threads.
#pragma once

namespace ricci {

/// The most threads that one operation uses, the calling one included: the last `set_num_threads`; before that the
/// environment's RICCI_THREADS; without it the processors that the process may run on. At least 1.
int num_threads();

/// Uses at most n threads for each operation from now on, in the whole process; operations under way on other threads
/// keep theirs. Operations whose work is not worth a second thread use one, and so do those asked for while another
/// thread's operation has the pool: programs with threads of their own need set nothing. More than 256 count as 256.
/// ValueError if n is less than 1.
///   rc::set_num_threads(1);  // for a server that answers each request on a thread of its own
void set_num_threads(int n);

}  // namespace ricci
