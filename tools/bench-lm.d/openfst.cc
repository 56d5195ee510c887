// The OpenFst side of tools/bench-lm apply: composes lattices with a back-off model.
//
//   openfst phi LABEL G.fst LATTICE...    back-off arcs with this label are failure arcs (PhiMatcher)
//   openfst epsilon G.fst LATTICE...      back-off arcs are epsilons
//
// Prints `SECONDS STATES ARCS PEAK-KB`. Only the calls are timed, as CPU time; files are read before the clock starts.
#include <fst/fstlib.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

using fst::StdArc;
using fst::StdVectorFst;
using Matcher = fst::SortedMatcher<fst::Fst<StdArc>>;
using Phi = fst::PhiMatcher<Matcher>;

static double Cpu() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static long Peak() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.compare(0, 6, "VmHWM:") == 0) return atol(line.c_str() + 6);
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const bool phi = !strcmp(argv[1], "phi");
  int at = 2;
  const int label = phi ? atoi(argv[at++]) : 0;
  std::unique_ptr<StdVectorFst> model(StdVectorFst::Read(argv[at++]));
  if (!model) return 1;
  std::vector<std::unique_ptr<StdVectorFst>> lattices;
  for (; at < argc; ++at) {
    lattices.emplace_back(StdVectorFst::Read(argv[at]));
    if (!lattices.back()) return 1;
  }
  double seconds = 0;
  long states = 0, arcs = 0;
  for (const auto &lattice : lattices) {
    const double begun = Cpu();
    StdVectorFst result;
    if (phi) {
      fst::ComposeFstOptions<StdArc, Phi> options;
      options.gc_limit = 0;
      options.matcher1 = new Phi(*lattice, fst::MATCH_NONE, fst::kNoLabel);
      options.matcher2 = new Phi(*model, fst::MATCH_INPUT, label, false);
      result = fst::ComposeFst<StdArc>(*lattice, *model, options);
      fst::Connect(&result);
    } else {
      fst::Compose(*lattice, *model, &result);
    }
    seconds += Cpu() - begun;
    states += result.NumStates();
    for (fst::StateIterator<StdVectorFst> s(result); !s.Done(); s.Next()) arcs += result.NumArcs(s.Value());
  }
  printf("%.6f %ld %ld %ld\n", seconds, states, arcs, Peak());
}
