#define UTS_RELEASE "6.1.0-18-amd64"
