# Read by each script: an environment of pinned packages in a temporary folder, and a comparison.

set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# packages NAME==VERSION ... : install them, and print what was installed
packages() {
    python3 -m venv "$folder/venv"
    "$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
    "$folder/venv/bin/python" --version
    printf '%s\n' "$@"
}

# seen COMMAND ... : run it in the folder, print what it prints, and compare that with standard input
seen() {
    cat > "$folder/expected"
    (cd "$folder" && "$@") > "$folder/found"
    cat "$folder/found"
    diff "$folder/expected" "$folder/found" || { echo "This has changed."; exit 1; }
    echo "As before."
}
