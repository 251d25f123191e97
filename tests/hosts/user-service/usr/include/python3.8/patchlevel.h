#define PY_VERSION              "3.8.10"
