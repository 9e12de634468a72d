// Values by node, and the functions that are computed once and that join totals.
#include "code/stage_function.h"

#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

namespace ricci::compiled {

using Kind = StepKind;

namespace {
bool is_circular(const ScalarStep& s) { return s.is_circular() && is_float(s.dtype); }
}  // namespace

StageFunction::StageFunction(llvm::Module& module, std::string name, const LanePlan& plan, const Machine& machine,
                             ElementaryFunctions& elementary, std::size_t stage, int width, int registers)
    : module_(module),
      name_(std::move(name)),
      b_(module.getContext(), width),
      plan_(plan),
      graph_(plan.program.graph),
      machine_(machine),
      stage_number_(stage),
      stage_(plan.stages[stage]),
      words_(b_, machine),
      elementary_(elementary),
      memory_(b_, plan),
      rows_(memory_),
      loads_(b_, graph_, stage_),
      registers_(registers),
      values_(at(registers)),
      lanes_(at(registers)) {}

void StageFunction::begin(llvm::ArrayRef<llvm::Type*> parameters) {
  auto* const type = llvm::FunctionType::get(b_.getVoidTy(), parameters, false);
  function_ = llvm::cast<llvm::Function>(module_.getOrInsertFunction(name_, type).getCallee());
  if (machine_.stands_alone()) function_->setLinkage(llvm::Function::InternalLinkage);
  set_attributes(*function_, machine_);
  for (unsigned i = 0; i < function_->arg_size(); ++i)
    if (parameters[i]->isPointerTy()) function_->addParamAttr(i, llvm::Attribute::NoAlias);
  memory_.entry = block("entry");
  b_.SetInsertPoint(memory_.entry);
}

void StageFunction::compute_once(bool overlaps) {
  for (const Output& output : stage_.once_outputs) waiting_[output.node].push_back(output.place);
  find_companions(stage_.once);
  const auto store_of = [&](Node n) {
    const auto places = waiting_.extract(n);
    if (!places) return;
    for (const Place& place : places.mapped()) {
      cut_long_block();
      const DType d = memory_.output_dtype(place.tensor);
      b_.store(value(n), d, b_.element(memory_.output(place.tensor), d, memory_.place(place, nullptr)));
    }
  };
  for (const Node n : stage_.once) {
    compute(n);
    if (plan_.slots[at(n)] >= 0) b_.store(value(n), graph_[n].dtype, memory_.slot(n));
    if (!overlaps) store_of(n);
  }
  for (const Output& output : stage_.once_outputs) store_of(output.node);
}

void StageFunction::write_once() {
  begin({b_.getPtrTy(), b_.getPtrTy(), b_.getInt64Ty(), b_.getPtrTy()});
  memory_.in = function_->getArg(0), memory_.out = function_->getArg(1);
  memory_.lane_count = function_->getArg(2), memory_.slots = function_->getArg(3);
  compute_once(false);
  if (llvm::Value* const any = any_large()) once_more_carefully(any);
  return_to_others(b_, machine_, nullptr);
}

bool StageFunction::write_in_place(int inputs) {
  const auto outputs = static_cast<int>(plan_.program.output_dtypes.size());
  llvm::SmallVector<llvm::Type*> parameters(at(inputs + outputs + 1), b_.getPtrTy());
  parameters.push_back(b_.getInt64Ty());
  begin(parameters);
  for (llvm::Argument& argument : function_->args()) argument.removeAttr(llvm::Attribute::NoAlias);
  const auto argument = [&](int i) { return function_->getArg(static_cast<unsigned>(i)); };
  for (int i = 0; i < inputs; ++i) memory_.place_input(i, argument(i));
  for (int k = 0; k < outputs; ++k) memory_.place_output(k, argument(inputs + k));
  memory_.slots = argument(inputs + outputs), memory_.lane_count = argument(inputs + outputs + 1);
  compute_once(true);
  function_->setLinkage(llvm::Function::InternalLinkage);
  function_->addFnAttr(llvm::Attribute::AlwaysInline);
  llvm::Value* const any = any_large();
  if (any) b_.CreateStore(b_.CreateZExt(any, b_.getInt64Ty()), memory_.slots);
  b_.CreateRetVoid();
  return any != nullptr;
}

void StageFunction::write_join() {
  auto* const i64 = b_.getInt64Ty();
  begin({b_.getPtrTy(), i64, b_.getPtrTy()});
  llvm::Value *const rows = function_->getArg(0), *const count = function_->getArg(1);
  memory_.slots = function_->getArg(2);
  auto *const loop = block("rows"), *const done = block("done");
  const std::size_t totals = stage_.totals.size();
  const auto read = [&](llvm::Value* row, std::size_t k) {
    llvm::Value* const place = b_.CreateAdd(b_.CreateMul(row, b_.getInt64(totals)), b_.getInt64(k));
    return b_.load_element(graph_[stage_.totals[k]].dtype, b_.CreateGEP(i64, rows, place));
  };
  Values firsts, next;
  for (std::size_t k = 0; k < totals; ++k) firsts.push_back(read(b_.getInt64(0), k));
  b_.CreateCondBr(b_.CreateICmpSGT(count, b_.getInt64(1)), loop, done);
  b_.SetInsertPoint(loop);
  llvm::PHINode* const row = b_.CreatePHI(i64, 2);
  std::vector<llvm::PHINode*> sums;
  for (llvm::Value* first : firsts) sums.push_back(b_.CreatePHI(first->getType(), 2));
  for (std::size_t k = 0; k < totals; ++k) {
    const ScalarStep& s = graph_[stage_.totals[k]];
    next.push_back(words_.word(s.word, s.dtype, {sums[k], read(row, k)}));
  }
  llvm::Value* const following = b_.CreateAdd(row, b_.getInt64(1));
  row->addIncoming(b_.getInt64(1), memory_.entry), row->addIncoming(following, loop);
  for (std::size_t k = 0; k < totals; ++k)
    sums[k]->addIncoming(firsts[k], memory_.entry), sums[k]->addIncoming(next[k], loop);
  b_.CreateCondBr(b_.CreateICmpSLT(following, count), loop, done);
  b_.SetInsertPoint(done);
  Values joined;
  for (std::size_t k = 0; k < totals; ++k) {
    llvm::PHINode* const total = b_.CreatePHI(firsts[k]->getType(), 2);
    total->addIncoming(firsts[k], memory_.entry), total->addIncoming(next[k], loop);
    joined.push_back(total);
  }
  for (std::size_t k = 0; k < totals; ++k)
    b_.store(joined[k], graph_[stage_.totals[k]].dtype, memory_.slot(stage_.totals[k]));
  return_to_others(b_, machine_, nullptr);
}

// ── values ──

/// LLVM orders the instructions of a block as a whole: for a block of thousands with hundreds of calls it took minutes.
/// So long code is cut into blocks: this is called before each node and output. LLVM would put the blocks together
/// again if the jump between them were a plain one; there always are slots.
void StageFunction::cut_long_block() {
  constexpr int most_in_block = 500;
  if (++in_block_ <= most_in_block) return;
  in_block_ = 0;
  auto *const next = block("next"), *const never = block("never");
  b_.CreateCondBr(b_.CreateIsNotNull(memory_.slots), next, never);
  b_.SetInsertPoint(never);
  return_to_others(b_, machine_, nullptr);
  b_.SetInsertPoint(next);
}

void StageFunction::compute(Node n) {
  if (values_of(n).contains(n)) return;  // its companion's call gave it
  cut_long_block();
  llvm::Value* const x = computed(n);
  values_of(n)[n] = x;
}

llvm::Value* StageFunction::value(Node n) {
  auto& known = values_of(n);
  if (const auto found = known.find(n); found != known.end()) return found->second;
  const ScalarStep& s = graph_[n];
  if (s.kind == Kind::number) return b_.bits_number(s.dtype, s.payload);
  llvm::Value* const x = s.kind == Kind::input ? rows_.read(plan_.program.inputs[s.payload], lane())
                                               : b_.spread(b_.load_element(s.dtype, memory_.slot(n)));
  if (!read_where_used_.contains(n)) known[n] = x;
  return x;
}

llvm::Value* StageFunction::computed(Node n) {
  const ScalarStep& s = graph_[n];
  switch (s.kind) {
    case Kind::load: return loads_.read(s, value(s.from[0]), value(s.from[1]));
    case Kind::lane: return lane_numbers(value(s.from[0]));
    case Kind::lanes: return memory_.lane_count;  // computed once
    case Kind::select:
    case Kind::convert:
    case Kind::bits:
    case Kind::word: break;
    default: return value(n);
  }
  llvm::SmallVector<llvm::Value*, 3> x;
  for (const Node operand : s.from)
    if (operand != no_node) x.push_back(value(operand));
  const DType d = graph_[s.from[0]].dtype;
  const bool is_called = plan_.called_by(s);
  const bool turns = is_circular(s) && (is_called || x.size() == 2);  // else it is the library's function
  if (!is_called && !turns) return words_.result(s, d, x);
  if (turns && machine_.is_careful) return words_.call(s.word, d, {x[0]});
  if (turns) note_argument(d, x[0]);
  return is_called ? called(n, x[0]) : x[1];
}

/// Sine and cosine of one argument are one call.
llvm::Value* StageFunction::called(Node n, llvm::Value* x) {
  const ScalarStep& s = graph_[n];
  const auto found = companions_.find(n);
  if (found == companions_.end()) return elementary_.call(b_, {s.word}, s.dtype, x)[0];
  const Values both = elementary_.call(b_, {Word::sin, Word::cos}, s.dtype, x);
  const bool is_sine = s.word == Word::sin;
  values_of(n)[found->second] = both[is_sine ? 1 : 0];
  return both[is_sine ? 0 : 1];
}

void StageFunction::find_companions(const std::vector<Node>& nodes) {
  std::unordered_map<Node, Node> by_argument;
  for (const Node n : nodes) {
    const ScalarStep& s = graph_[n];
    if (!is_circular(s) || !plan_.called_by(s)) continue;
    const auto [known, is_first] = by_argument.try_emplace(s.from[0], n);
    if (!is_first) companions_[known->second] = n;
  }
}

/// Lanes that only fill a register are the first.
llvm::Value* StageFunction::lane_numbers(llvm::Value* filling) {
  llvm::Value* const behind = b_.CreateSub(b_.numbers_from(lane()), filling);
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, behind, b_.number(DType::int64, 0));
}

// ── arguments of sin and cos that their formulas do not hold for ──

/// The formulas hold up to a size of the argument. Beyond, all of the stage is computed again with calls of the
/// functions themselves: so the largest argument is all that code keeps.
void StageFunction::note_argument(DType d, llvm::Value* x) {
  llvm::Value*& largest = largest_[d];
  llvm::Value* const size = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  largest = largest ? b_.CreateSelect(b_.CreateFCmpOGT(size, largest), size, largest) : size;
}

/// Whether an argument was larger; null: there was none.
llvm::Value* StageFunction::any_large() {
  llvm::Value* any = nullptr;
  for (const auto& [d, largest] : largest_) {
    llvm::Value* const is_large = b_.CreateFCmpOGT(largest, b_.number(d, machine_.circular_limit(d)));
    llvm::Value* const here = b_.width() == 1 ? is_large : b_.CreateOrReduce(is_large);
    any = any ? b_.CreateOr(any, here) : here;
  }
  return any;
}

namespace {
llvm::MDNode* is_rare(llvm::LLVMContext& context) { return llvm::MDBuilder(context).createBranchWeights(1, 1 << 20); }
}  // namespace

/// Calls the careful code of this stage. The library makes that code at its first call; code that stands alone has the
/// careful function in the same module.
void StageFunction::call_careful(Callee::What by_library, llvm::ArrayRef<llvm::Value*> own,
                                 llvm::ArrayRef<llvm::Value*> for_library) {
  llvm::SmallVector<llvm::Value*> all;
  if (!machine_.stands_alone()) all = {b_.CreateLoad(b_.getInt64Ty(), memory_.slots), b_.getInt64(stage_number_)};
  all.append({memory_.in, memory_.out, memory_.lane_count, memory_.slots});
  const llvm::ArrayRef<llvm::Value*> more = machine_.stands_alone() ? own : for_library;
  all.append(more.begin(), more.end());
  llvm::SmallVector<llvm::Type*> types;
  for (llvm::Value* x : all) types.push_back(x->getType());
  auto* const type = llvm::FunctionType::get(b_.getVoidTy(), types, false);
  llvm::Value* f = nullptr;
  if (machine_.stands_alone()) f = module_.getOrInsertFunction(careful_name(name_), type).getCallee();
  else f = address_of(b_, machine_, {by_library});
  b_.CreateCall(type, f, all)->addFnAttr(llvm::Attribute::NoUnwind);
}

void StageFunction::once_more_carefully(llvm::Value* any) {
  auto *const careful = block("careful"), *const done = block("done");
  b_.CreateCondBr(any, careful, done, is_rare(b_.getContext()));
  b_.SetInsertPoint(careful);
  call_careful(Callee::What::careful_once, {}, {});
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

/// Stores the outputs, or has the careful code do so where an argument was large. That code gives each total joined: it
/// stands in the last lane, which always counts, and the others get the start.
void StageFunction::store_carefully(llvm::Value* any, OfTotals& parts, llvm::Value* overlap, llvm::Value* totals) {
  auto *const careful = block("careful"), *const usual = block("usual"), *const both = block("both");
  const Values starts = starts_of_totals();
  Values joined;
  b_.CreateCondBr(any, careful, usual, is_rare(b_.getContext()));
  b_.SetInsertPoint(careful);
  llvm::Value* const skipped = overlap ? overlap : b_.getInt64(0);
  llvm::Value* const end = b_.CreateAdd(lanes_[0], b_.count(b_.width() * registers_));
  call_careful(Callee::What::careful_lanes, {lanes_[0], end, skipped, totals}, {lanes_[0], skipped, totals});
  for (std::size_t k = 0; k < starts.size(); ++k) {
    llvm::Value* const place = b_.CreateConstGEP1_64(b_.getInt64Ty(), totals, k);
    llvm::Value* const total = b_.load_element(graph_[stage_.totals[k]].dtype, place);
    joined.push_back(b_.with_last_lane(starts[k], total));
  }
  b_.CreateBr(both);
  b_.SetInsertPoint(usual);
  store_lane_outputs();
  llvm::BasicBlock* const end_of_usual = b_.GetInsertBlock();
  b_.CreateBr(both);
  b_.SetInsertPoint(both);
  in_each_register([&] {
    for (std::size_t k = 0; k < starts.size(); ++k) {
      llvm::Value*& part = parts[at(register_)][k];
      llvm::PHINode* const chosen = b_.CreatePHI(part->getType(), 2);
      chosen->addIncoming(register_ == registers_ - 1 ? joined[k] : starts[k], careful);
      chosen->addIncoming(part, end_of_usual);
      part = chosen;
    }
  });
}

}  // namespace ricci::compiled
