# The program alone, run by a user without rights; works on a read-only root file system.
FROM python:3.13-slim

COPY . /src
RUN python -m pip install --no-cache-dir --disable-pip-version-check '/src[report]' && rm -rf /src
RUN useradd --system --home-dir /nonexistent --shell /usr/sbin/nologin uqcli

USER uqcli
WORKDIR /work
ENTRYPOINT ["uqcli"]
