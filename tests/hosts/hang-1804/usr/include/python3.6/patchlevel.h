#define PY_VERSION              "3.6.9"
