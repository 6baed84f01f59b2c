# Sourced by packaging/run, packaging/test and packaging/build-times: installs what is missing, configures, builds.
# Everything it says goes to stderr; when there is nothing to do it says nothing. Each stage leaves a stamp that holds what
# it was done for, written last: an interrupted stage is done again the next time.
set -uo pipefail

root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
build=$root/build
venv=$build/venv
stamps=$build/stamps
logs=$build/logs
python=/usr/bin/python3
# Without it ccache passes by every file with a precompiled header, all that see LibTorch. CMakePresets.json says the same.
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS-pch_defines,time_macros,include_file_mtime,include_file_ctime}

say() { printf 'stepscope: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

# showTail LOG: what a person needs of a log: the first failure where CMake or ninja marked one, else the end.
showTail() {
    local failure='^(CMake Error|FAILED:)'
    if grep -qE "$failure" "$1"; then
        sed -nE "/$failure/,\$p" "$1" | cut -c1-240 | sed -n '1,60p' >&2
    else
        tail -n 40 "$1" | cut -c1-400 >&2
    fi
    say "the whole log is in ${1#"$root"/}"
}

# One build at a time in this folder. Three calls at once that find everything up to date pass without a word.
lockBuild() {
    mkdir -p "$stamps" "$logs" || fail "the folder $build cannot be written; Stepscope builds inside its own folder."
    exec {lock}>"$build/lock"
    flock -w 2 "$lock" && return
    say "another build is running in $build; waiting for it"
    flock "$lock"
}
unlockBuild() { exec {lock}>&-; }

# --- Debian packages ------------------------------------------------------------------------------------------------

isInstalled() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

asRoot() {
    local settings=(DEBIAN_FRONTEND=noninteractive)
    [[ -n ${http_proxy-} ]] && settings+=("http_proxy=$http_proxy")
    [[ -n ${https_proxy-} ]] && settings+=("https_proxy=$https_proxy")
    (
        exec {lock}>&- # a service that a package starts must not keep our lock
        if [[ $EUID == 0 ]]; then env "${settings[@]}" "$@"; else sudo env "${settings[@]}" "$@"; fi
    )
}

# missingPackages LIST: fills `missing` with the names of lines of which nothing is installed (a|b stays as it is), `optional`
# with those of them that start with a question mark, and `text` with what a person is told.
missingPackages() {
    local names why name found mark
    missing=() optional=() text=''
    while read -r names why; do
        [[ -z $names || $names == \#* ]] && continue
        mark=${names%%[!?]*} names=${names#\?} found=''
        for name in ${names//|/ }; do isInstalled "$name" && found=yes; done
        [[ -n $found ]] && continue
        missing+=("$names")
        [[ -n $mark ]] && optional+=("$names")
        text+=$(printf '  %-26s %s' "${names%%|*}" "$why")$'\n'
    done <"$1"
}

# availablePackage A|B|C: the first that this distribution has, else the last, for apt-get to complain about; 1 when it has none.
availablePackage() {
    local name
    for name in ${1//|/ }; do
        apt-cache show "$name" >/dev/null 2>&1 && { echo "$name"; return 0; }
    done
    echo "$name"
    return 1
}

aptInstall() { asRoot apt-get -q -y -o DPkg::Lock::Timeout=600 install --no-install-recommends "$@" </dev/null >>"$log" 2>&1; }
installAptPackages() {
    local list=$root/packaging/apt-packages.txt log=$logs/apt.log names name missing optional text chosen=() spare=()
    cmp -s "$list" "$stamps/apt-packages.txt" && return
    if ! command -v apt-get >/dev/null; then
        say "this is neither Debian nor Ubuntu: the libraries named in packaging/apt-packages.txt must be installed already"
        return
    fi
    missingPackages "$list"
    if ((${#missing[@]})); then
        if [[ $EUID != 0 ]] && ! command -v sudo >/dev/null; then
            ((${#missing[@]} > ${#optional[@]})) &&
                fail "packages are missing that need root, and there is no sudo. Ask an administrator to run: apt-get install ${missing[*]%%|*}"
            say "going on without ${optional[*]%%|*}: apt-get needs root to install it, and there is no sudo"
            missing=()
        fi
    fi
    if ((${#missing[@]})); then
        say "installing packages with apt-get$([[ $EUID == 0 ]] || printf ', with sudo'):"
        printf '%s' "$text" >&2
        # A repository of somebody else's that does not answer must not stop us: the install says if something is missing.
        asRoot apt-get -q -o DPkg::Lock::Timeout=600 update >"$log" 2>&1
        for names in "${missing[@]}"; do
            if name=$(availablePackage "$names") && [[ " ${optional[*]} " == *" $names "* ]]; then
                spare+=("$name")
            elif [[ " ${optional[*]} " != *" $names "* ]]; then
                chosen+=("$name")
            else
                say "apt-get knows no package $name: going on without it"
            fi
        done
    fi
    if ((${#chosen[@]})) && ! aptInstall "${chosen[@]}"; then
        showTail "$log"
        fail "apt-get could not install these packages"
    fi
    # What can be done without is asked for apart, so that it takes nothing else with it.
    for name in "${spare[@]}"; do
        aptInstall "$name" || say "apt-get could not install $name: going on without it"
    done
    cp "$list" "$stamps/apt-packages.txt.part" && mv "$stamps/apt-packages.txt.part" "$stamps/apt-packages.txt"
}

# Perhaps a package was removed since it was installed: look again next time.
forgetPackages() { rm -f "$stamps/apt-packages.txt"; }

# --- LibTorch and its companions, from PyPI -------------------------------------------------------------------------

hasNvidiaDriver() { [[ -e /dev/nvidiactl ]] || { command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null 2>&1; }; }

hasNvcc13() {
    local nvcc
    nvcc=$(command -v nvcc) || nvcc=/usr/local/cuda/bin/nvcc
    [[ -x $nvcc ]] && [[ $("$nvcc" --version 2>/dev/null) == *'release 13.'* ]]
}

pinsOf() { awk -v want="$1" '/^# set: /{on = ($3 == want)} on && !/^#/ && NF' "$root/packaging/requirements.txt"; }

# installSet NAME WHAT: one set of requirements.txt into the virtual environment. Its stamp holds the pins and the python.
installSet() {
    local set=$1 what=$2 stamp=$venv/.stepscope-$1 log=$logs/pip-$1.log wanted pins=$logs/pins-$1.txt
    wanted="$(readlink -f "$python")"$'\n'"$(pinsOf "$set")"
    [[ -f $stamp && $(<"$stamp") == "$wanted" ]] && return
    if [[ $set == base ]]; then
        [[ $(uname -m) == x86_64 ]] || fail "LibTorch is pinned for x86-64 machines, and this one is $(uname -m)."
        "$python" -c 'import sys; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 12)))' ||
            fail "LibTorch is pinned for Python 3.11 (Debian 12) and 3.12 (Ubuntu 24.04), and $python is $("$python" --version 2>&1)."
        rm -rf "$venv"
        "$python" -m venv "$venv" >"$log" 2>&1 || { showTail "$log"; fail "the virtual environment $venv could not be made"; }
    fi
    rm -f "$stamp"
    pinsOf "$set" >"$pins"
    say "installing $what"
    # -I and --no-user: neither PYTHONPATH nor a user's site folder may decide what is installed here.
    if ! "$venv/bin/python" -I -m pip install --quiet --no-input --no-user --disable-pip-version-check --no-compile --force-reinstall \
        --no-deps --require-hashes --only-binary=:all: -r "$pins" </dev/null >>"$log" 2>&1; then
        showTail "$log"
        fail "pip could not install ${what%% (*}"
    fi
    # The wheels put libraries into lib/, and their nvcc looks for them in lib64/.
    [[ $set == nvcc ]] && ln -sfn lib "$(echo "$venv"/lib/python3.*/site-packages/nvidia/cu13)/lib64"
    printf '%s\n' "$wanted" >"$stamp.part" && mv "$stamp.part" "$stamp"
}

# STEPSCOPE_NVCC=1 asks for the CUDA compiler on a machine without a driver too, STEPSCOPE_PARQUET=1 for what reads parquet (packaging/test does both).
installLibTorch() {
    [[ -x $python ]] || python=$(command -v python3) || fail "python3 is not installed"
    installSet base "LibTorch 2.11.0 into ${venv#"$root"/} (0.5 GB to fetch, 1.3 GB on disk)"
    installSet texts "Shakespeare's plays (2 MB to fetch, 6 MB on disk)"
    local driver=''
    if hasNvidiaDriver; then
        driver=yes
        installSet driver "the CUDA libraries of LibTorch, because this machine has an NVIDIA driver (2.5 GB to fetch, 5 GB on disk)"
    fi
    if [[ -n $driver || -n ${STEPSCOPE_NVCC-} ]] && ! hasNvcc13; then
        installSet nvcc "the CUDA compiler nvcc 13.0, which this machine lacks (0.1 GB to fetch)"
    fi
    if [[ -n ${STEPSCOPE_PARQUET-} ]]; then installSet parquet "pyarrow, whose libraries read parquet (55 MB to fetch)"; fi
}

# --- CMake and Ninja ------------------------------------------------------------------------------------------------

# As many compilers as cores, but no more than memory bears: a file that sees LibTorch takes up to 1.5 GB.
jobCount() {
    local cores byMemory
    cores=$(nproc)
    byMemory=$(awk '/^MemAvailable:/ {print int($2 / 1900000)}' /proc/meminfo)
    ((byMemory < 1)) && byMemory=1
    echo $((cores < byMemory ? cores : byMemory))
}

configure() {
    local preset=$1 dir=$build/$1 log=$logs/configure-$1.log stamp
    if [[ -f $dir/CMakeCache.txt ]] && ! grep -qx "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$dir/CMakeCache.txt"; then
        say "this folder was moved or copied: configuring afresh"
        rm -rf "$dir"
    fi
    local fresh=yes
    [[ -f $dir/build.ninja && -f $stamps/configured-$preset ]] || fresh=''
    for stamp in "$root/CMakePresets.json" "$stamps/apt-packages.txt" "$venv"/.stepscope-*; do
        [[ $stamp -nt $stamps/configured-$preset ]] && fresh=''
    done
    [[ -n $fresh ]] && return
    say "configuring the build ($preset)"
    if ! (cd "$root" && cmake --preset "$preset") >"$log" 2>&1; then
        showTail "$log"
        forgetPackages
        fail "the build could not be configured"
    fi
    touch "$stamps/configured-$preset"
}

# Turns ninja's lines into one that counts on a terminal, and into a single sentence elsewhere; silent without work.
showProgress() {
    local line begun=''
    while IFS= read -r line; do
        # Looking for new files and configuring again are ninja's own steps, counted apart.
        [[ $line =~ ^\[([1-9][0-9]*)/([0-9]+)\]\ (.*) && $line != *'] Re-'* ]] || continue
        [[ -z $begun ]] && say "building (${BASH_REMATCH[2]} steps)"
        begun=yes
        [[ -t 2 ]] && printf '\r\033[K  %s/%s %.60s' "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" "${BASH_REMATCH[3]##*/}" >&2
    done
    [[ -n $begun && -t 2 ]] && printf '\r\033[K' >&2
    return 0
}

# buildTargets PRESET TARGET...: nothing named = everything.
buildTargets() {
    local preset=$1 log=$logs/build-$1.log
    shift
    configure "$preset"
    ninja -C "$build/$preset" -j "$(jobCount)" "$@" </dev/null 2>&1 | tee "$log" | showProgress
    if [[ ${PIPESTATUS[0]} != 0 ]]; then
        showTail "$log"
        grep -q '^CMake Error' "$log" && forgetPackages
        fail "the build failed"
    fi
}
