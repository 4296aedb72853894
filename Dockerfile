# The program with what its pages and exports need, run by a user without rights, whom Kubernetes knows by
# number; works on a read-only root file system.
FROM python:3.13-slim

COPY . /src
RUN python -m pip install --no-cache-dir --disable-pip-version-check '/src[report,export,cloud]' && rm -rf /src
RUN useradd --system --uid 10001 --user-group --home-dir /nonexistent --shell /usr/sbin/nologin uqcli

USER 10001
WORKDIR /work
ENTRYPOINT ["uqcli"]
