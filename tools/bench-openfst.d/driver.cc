// The OpenFst side of tools/bench-openfst.
//
//   driver run COMMAND...             runs a command; prints `CPU-SECONDS PEAK-KB EXIT-CODE`
//   driver time REPEATS OP [--name=value]... FILE...
//                                     times a library call on loaded automata; prints one line:
//                                     `STATES ARCS PEAK-KB SECONDS...`
//
// Only the call is timed: automata are read, and copied where the call changes them, before the clock starts, and
// results are freed after it stops. Time is CPU time of the process.
#include <fst/fstlib.h>
#include <fst/script/compile-impl.h>
#include <fst/script/print-impl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

using fst::LogArc;
using fst::StdArc;
using fst::VectorFst;
template <class A>
using Ptr = std::unique_ptr<VectorFst<A>>;

static double Cpu() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

// The most memory since the program started, in KB. (getrusage counts what was there before exec, too.)
static long Peak() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.compare(0, 6, "VmHWM:") == 0) return atol(line.c_str() + 6);
  }
  return 0;
}

static void Die(const std::string &message) {
  std::cerr << "driver: " << message << "\n";
  exit(2);
}

static int Run(char **argv) {
  const pid_t child = fork();
  if (child == 0) {
    execvp(argv[0], argv);
    perror(argv[0]);
    _exit(127);
  }
  int status = 0;
  rusage use;
  if (wait4(child, &status, 0, &use) < 0) Die("wait4 failed");
  const double cpu = use.ru_utime.tv_sec + use.ru_stime.tv_sec + (use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6;
  printf("%.6f %ld %d\n", cpu, use.ru_maxrss, WIFEXITED(status) ? WEXITSTATUS(status) : 128);
  return 0;
}

struct Job {
  int repeats;
  std::string op;
  std::map<std::string, std::string> options;
  std::vector<std::string> files;
  std::vector<double> seconds;
  int64_t states = 0, arcs = 0;

  std::string Option(const std::string &name, const std::string &otherwise) const {
    const auto it = options.find(name);
    return it == options.end() ? otherwise : it->second;
  }
  double Number(const std::string &name, double otherwise) const {
    const auto it = options.find(name);
    return it == options.end() ? otherwise : atof(it->second.c_str());
  }
  bool Flag(const std::string &name) const { return Option(name, "false") == "true"; }

  // `prepare` makes what one repeat uses up; `call` is timed.
  template <class T>
  void Time(const std::function<T()> &prepare, const std::function<void(T &)> &call) {
    for (int r = 0; r < repeats; ++r) {
      T work = prepare();
      const double begin = Cpu();
      call(work);
      seconds.push_back(Cpu() - begin);
    }
  }
  template <class A>
  void Size(const fst::Fst<A> &f) {
    states = arcs = 0;
    for (fst::StateIterator<fst::Fst<A>> s(f); !s.Done(); s.Next()) {
      ++states;
      arcs += f.NumArcs(s.Value());
    }
  }
};

template <class A>
Ptr<A> Read(const std::string &name) {
  Ptr<A> f(VectorFst<A>::Read(name));
  if (!f) Die("cannot read " + name);
  return f;
}

// A copy that shares nothing, so that the first change does not pay for it.
template <class A>
Ptr<A> Deep(const VectorFst<A> &f) {
  return Ptr<A>(new VectorFst<A>(static_cast<const fst::Fst<A> &>(f)));
}

template <class A>
void Unary(Job *job, const std::function<void(const VectorFst<A> &, VectorFst<A> *)> &op) {
  const auto in = Read<A>(job->files[0]);
  for (int r = 0; r < job->repeats; ++r) {
    VectorFst<A> out;
    const double begin = Cpu();
    op(*in, &out);
    job->seconds.push_back(Cpu() - begin);
    if (r + 1 == job->repeats) job->Size(out);
  }
}

template <class A>
void InPlace(Job *job, const std::function<void(VectorFst<A> *)> &op) {
  const auto in = Read<A>(job->files[0]);
  for (int r = 0; r < job->repeats; ++r) {
    const auto work = Deep(*in);
    const double begin = Cpu();
    op(work.get());
    job->seconds.push_back(Cpu() - begin);
    if (r + 1 == job->repeats) job->Size(*work);
  }
}

template <class A>
void Distance(Job *job) {
  const auto in = Read<A>(job->files[0]);
  const bool reverse = job->Flag("reverse");
  job->Time<std::vector<typename A::Weight>>([] { return std::vector<typename A::Weight>(); },
                                             [&](std::vector<typename A::Weight> &d) {
                                               fst::ShortestDistance(*in, &d, reverse);
                                               job->states = d.size();
                                             });
}

static void Files(Job *job) {
  const std::string &name = job->files[0];
  const std::string out = job->Option("out", "/dev/null");
  if (job->op == "read" && job->Flag("log")) {
    InPlace<LogArc>(job, [](VectorFst<LogArc> *) {});
  } else if (job->op == "read") {
    // Whatever the container: fst::Fst<>::Read takes vector and const, and maps const files.
    const bool map = job->Option("mode", "read") == "map";
    using P = std::unique_ptr<fst::Fst<StdArc>>;
    job->Time<P>([] { return P(); },
                 [&](P &f) {
                   std::ifstream in(name, std::ios::binary);
                   fst::FstReadOptions options(name);
                   options.mode = map ? fst::FstReadOptions::MAP : fst::FstReadOptions::READ;
                   f.reset(fst::Fst<StdArc>::Read(in, options));
                   if (!f) Die("cannot read " + name);
                 });
    P f(fst::Fst<StdArc>::Read(name));
    job->Size(*f);
  } else if (job->op == "visit") {
    // Read, and every arc once, state by state.
    using P = std::unique_ptr<fst::Fst<StdArc>>;
    static volatile double sink;
    job->Time<P>([] { return P(); },
                 [&](P &f) {
                   f.reset(fst::Fst<StdArc>::Read(name));
                   if (!f) Die("cannot read " + name);
                   int64_t labels = 0;
                   double weights = 0;
                   const auto &c = *static_cast<const fst::ConstFst<StdArc> *>(f.get());
                   if (f->Type() != "const") Die("visit needs a const automaton");
                   for (fst::StateIterator<fst::ConstFst<StdArc>> s(c); !s.Done(); s.Next()) {
                     for (fst::ArcIterator<fst::ConstFst<StdArc>> a(c, s.Value()); !a.Done(); a.Next()) {
                       const auto &arc = a.Value();
                       labels += int64_t{arc.ilabel} + arc.olabel + arc.nextstate;
                       weights += arc.weight.Value();
                     }
                   }
                   sink = labels + weights;
                 });
    P f(fst::Fst<StdArc>::Read(name));
    job->Size(*f);
  } else if (job->op == "write") {
    const auto in = Read<StdArc>(name);
    job->Size(*in);
    if (job->Option("fst-type", "vector") == "const") {
      // ConstFst::WriteFst lays the file out straight from a vector automaton.
      job->Time<int>([] { return 0; }, [&](int &) {
        std::ofstream o(out, std::ios::binary);
        fst::ConstFst<StdArc>::WriteFst(*in, o, fst::FstWriteOptions(out));
      });
    } else {
      job->Time<int>([] { return 0; }, [&](int &) { in->Write(out); });
    }
  } else if (job->op == "print") {
    const auto in = Read<StdArc>(name);
    job->Size(*in);
    std::unique_ptr<fst::SymbolTable> syms;
    if (job->options.count("isymbols")) syms.reset(fst::SymbolTable::ReadText(job->Option("isymbols", "")));
    job->Time<int>([] { return 0; }, [&](int &) {
      std::ofstream o(out);
      fst::FstPrinter<StdArc> printer(*in, syms.get(), syms.get(), nullptr, job->Flag("acceptor"), false, "\t");
      printer.Print(o, out);
    });
  } else {
    std::ifstream file(name);
    std::stringstream all;
    all << file.rdbuf();
    const std::string text = all.str();
    std::unique_ptr<fst::SymbolTable> syms;
    if (job->options.count("isymbols")) syms.reset(fst::SymbolTable::ReadText(job->Option("isymbols", "")));
    for (int r = 0; r < job->repeats; ++r) {
      std::istringstream in(text);
      const double begin = Cpu();
      fst::FstCompiler<StdArc> compiler(in, name, syms.get(), syms.get(), nullptr, job->Flag("acceptor"), false, false,
                                        false, false);
      job->seconds.push_back(Cpu() - begin);
      job->Size(compiler.Fst());
    }
  }
}

static void Dispatch(Job *job) {
  const std::string &op = job->op;
  const auto &files = job->files;
  if (op == "read" || op == "visit" || op == "write" || op == "print" || op == "compile") return Files(job);
  if (files.empty()) Die("no file");
  if (op == "shortestdistance") return job->Flag("log") ? Distance<LogArc>(job) : Distance<StdArc>(job);
  if (op == "compose") {
    const auto b = Read<StdArc>(files[1]);
    return Unary<StdArc>(job, [&](const VectorFst<StdArc> &a, VectorFst<StdArc> *out) { fst::Compose(a, *b, out); });
  }
  if (op == "determinize") {
    return Unary<StdArc>(job,
                         [](const VectorFst<StdArc> &a, VectorFst<StdArc> *out) { fst::Determinize(a, out); });
  }
  if (op == "shortestpath") {
    const int n = job->Number("nshortest", 1);
    const bool unique = job->Flag("unique");
    return Unary<StdArc>(
        job, [=](const VectorFst<StdArc> &a, VectorFst<StdArc> *out) { fst::ShortestPath(a, out, n, unique); });
  }
  if (op == "reverse") {
    return Unary<StdArc>(job, [](const VectorFst<StdArc> &a, VectorFst<StdArc> *out) { fst::Reverse(a, out); });
  }
  if (op == "minimize") return InPlace<StdArc>(job, [](VectorFst<StdArc> *f) { fst::Minimize(f); });
  if (op == "rmepsilon") return InPlace<StdArc>(job, [](VectorFst<StdArc> *f) { fst::RmEpsilon(f); });
  if (op == "connect") return InPlace<StdArc>(job, [](VectorFst<StdArc> *f) { fst::Connect(f); });
  if (op == "topsort") return InPlace<StdArc>(job, [](VectorFst<StdArc> *f) { fst::TopSort(f); });
  if (op == "arcsort") {
    return InPlace<StdArc>(job, [](VectorFst<StdArc> *f) { fst::ArcSort(f, fst::OLabelCompare<StdArc>()); });
  }
  if (op == "push") {
    return Unary<StdArc>(job, [](const VectorFst<StdArc> &a, VectorFst<StdArc> *out) {
      fst::Push<StdArc, fst::REWEIGHT_TO_INITIAL>(a, out, fst::kPushWeights);
    });
  }
  if (op == "prune") {
    const float weight = job->Number("weight", 0);
    // fstprune's call: a second automaton for the result.
    return Unary<StdArc>(job, [=](const VectorFst<StdArc> &a, VectorFst<StdArc> *out) { fst::Prune(a, out, weight); });
  }
  if (op == "union") {
    std::vector<Ptr<StdArc>> rest;
    for (size_t i = 1; i < files.size(); ++i) rest.push_back(Read<StdArc>(files[i]));
    return InPlace<StdArc>(job, [&](VectorFst<StdArc> *f) {
      for (const auto &g : rest) fst::Union(f, *g);
    });
  }
  if (op == "replace") {
    // FILE LABEL pairs, the root first, as on fstreplace's command line.
    std::vector<Ptr<StdArc>> all;
    std::vector<std::pair<int, const fst::Fst<StdArc> *>> pairs;
    for (size_t i = 0; i + 1 < files.size(); i += 2) {
      all.push_back(Read<StdArc>(files[i]));
      pairs.emplace_back(atoi(files[i + 1].c_str()), all.back().get());
    }
    return Unary<StdArc>(job, [&](const VectorFst<StdArc> &, VectorFst<StdArc> *out) {
      fst::Replace(pairs, out, pairs[0].first, false);
    });
  }
  Die("no operation " + op);
}

int main(int argc, char **argv) {
  if (argc > 2 && std::string(argv[1]) == "run") return Run(argv + 2);
  if (argc < 5 || std::string(argv[1]) != "time") Die("usage: driver run COMMAND... | driver time REPEATS OP FILE...");
  Job job;
  job.repeats = atoi(argv[2]);
  job.op = argv[3];
  for (int i = 4; i < argc; ++i) {
    std::string arg = argv[i];
    if (arg.compare(0, 2, "--") == 0) {
      const auto eq = arg.find('=');
      job.options[arg.substr(2, eq == std::string::npos ? eq : eq - 2)] =
          eq == std::string::npos ? "true" : arg.substr(eq + 1);
    } else if (arg[0] == '@') {
      // A list of arguments, one a line.
      std::ifstream list(arg.substr(1));
      for (std::string line; std::getline(list, line);) job.files.push_back(line);
    } else {
      job.files.push_back(arg);
    }
  }
  Dispatch(&job);
  printf("%lld %lld %ld", (long long)job.states, (long long)job.arcs, Peak());
  for (const double s : job.seconds) printf(" %.6f", s);
  printf("\n");
  return 0;
}
