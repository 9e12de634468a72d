#!/bin/sh
# What CMake starts for each file, `compile.sh [ccache] compiler arguments`: compiles it, and notes beside the object,
# in OBJECT.times, the processor time that took. tools/build_times.py reads those; times on the clock depend on what
# else the machine does.

# Precompiled headers are no reason to pass by ccache.
export CCACHE_SLOPPINESS="${CCACHE_SLOPPINESS:+$CCACHE_SLOPPINESS,}pch_defines,time_macros"
# Those themselves are known by the text of the headers, comments included: from headers that differ in comments alone,
# ccache would else give the file of the others, whose headers the compiler then takes for new ones and reads again.
case "$*" in
  *.gch*-c* | *-emit-pch*) export CCACHE_DEPEND=1 CCACHE_NAMESPACE=headers ;;
esac

# g++ collects garbage when its heap is full, first at 128 MB, which headers fill: up to a tenth of the time of a file of
# tests. With half a gigabyte it seldom does. ccache takes it for the same file.
case "$*" in
  *-fpch-preprocess*) # g++ alone is told this
    export CCACHE_IGNOREOPTIONS="${CCACHE_IGNOREOPTIONS:+$CCACHE_IGNOREOPTIONS }--param=ggc-min-heapsize=*"
    set -- "$@" --param=ggc-min-heapsize=524288
    ;;
esac

"$@"
status=$?

while [ $# -gt 0 ]; do
  [ "$1" != -o ] || times >"$2.times"
  shift
done
exit $status
