# Read by the scripts beside it. Gives `root`, and the functions that check Node, install and build; all they say goes to
# standard error. Nothing but Node and a POSIX system is needed.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf 'pulsefold: %s\n' "$*" >&2; }

# The oldest Node that will do is the one that package.json names as `"node": ">=MAJOR.MINOR"`.
check_node() {
  local wanted have
  wanted=$(sed -n 's/.*"node": *">=\([0-9.]*\)".*/\1/p' "$root/package.json")
  if ! command -v node >/dev/null; then
    say "Node $wanted or newer is needed, and there is no \`node\` on the PATH. Get it from https://nodejs.org."
    exit 69
  fi
  have=$(node --version)
  if ! is_at_least "${have#v}" "$wanted"; then
    say "Node $wanted or newer is needed, this is ${have#v} ($(command -v node)). Get a newer one from https://nodejs.org."
    exit 69
  fi
}

# is_at_least 20.20.2 20.19: compares major and minor as numbers.
is_at_least() {
  local have_major have_minor wanted_major wanted_minor
  IFS=. read -r have_major have_minor _ <<<"$1.0.0"
  IFS=. read -r wanted_major wanted_minor _ <<<"$2.0.0"
  ((have_major > wanted_major || (have_major == wanted_major && have_minor >= wanted_minor)))
}

# A copy of the lock file inside node_modules tells which one was installed; it is written last.
install_packages() {
  are_installed || alone 'are_installed || install' || exit 69
}

installed=$root/node_modules/.pulsefold-lock.json
are_installed() { cmp -s "$root/package-lock.json" "$installed"; }

install() {
  say 'installing the packages of package-lock.json (once; this takes a minute)'
  if ! (cd "$root" && npm ci --no-audit --no-fund --loglevel=error) >&2; then
    say 'npm could not install the packages, see above. Is the package registry reachable?'
    return 1
  fi
  cp "$root/package-lock.json" "$installed"
}

# alone COMMAND: runs it while no other script installs or builds here. A link names the process that does; of one that has
# gone, or takes ten minutes, it is taken away.
alone() {
  local lock=$root/.preparing waited=0 status=0
  until ln -s $$ "$lock" 2>/dev/null; do
    if ((waited == 0)); then say 'waiting for another script that prepares'; fi
    if ! kill -0 "$(readlink "$lock" || echo $$)" 2>/dev/null || ((++waited > 3000)); then rm -f "$lock"; fi
    sleep 0.2
  done
  eval "$1" || status=$?
  rm -f "$lock"
  return $status
}

sources=(common schemas state-stores topology processors api scripts)

# Compiles to dist/ when a source is newer than the last good build. Type errors give status 1, and what could be
# compiled is there all the same.
build() {
  # Another may have built it meanwhile.
  is_built || alone 'is_built || compile' || return 1
}

is_built() (
  cd "$root"
  [[ -f dist/.built ]] || return 1
  newer=$(find "${sources[@]}" package.json tsconfig.json \( -type d -o -name '*.ts' -o -name '*.json' \) -newer dist/.built -print -quit 2>/dev/null)
  [[ -z $newer ]]
)

compile() (
  cd "$root"
  say 'building'
  mkdir -p dist
  remove_orphans
  touch dist/.built.started
  node node_modules/typescript/bin/tsc -p . >&2 || return 1
  mv dist/.built.started dist/.built
)

# What was compiled from a source that has gone would still run, tests among them.
remove_orphans() {
  local compiled source
  find dist -name '*.js' | while read -r compiled; do
    source=${compiled#dist/}
    source=${source%.js}.ts
    [[ -f $source ]] || rm -f "$compiled" "$compiled.map"
  done
}

# Becomes the node that runs the service, or measures it. Both the C library and V8 would rather take memory than look for
# what is free: a heap for each of many threads, and a JavaScript heap of up to four times what is in use. And once a burst has
# outlived a collection or two V8 would go on making its like among the old, which only a full collection frees. A thread of V8's
# for each core but one: more of them only take the event loop's core from it.
run_service() {
  local cores
  cores=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
  export MALLOC_ARENA_MAX=${MALLOC_ARENA_MAX:-2}
  exec node --enable-source-maps --heap-growing-percent=75 --max-semi-space-size=16 \
    --no-allocation-site-pretenuring --v8-pool-size=$((cores > 4 ? 4 : cores > 2 ? cores - 1 : 1)) "$@"
}
