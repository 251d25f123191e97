#define UTS_RELEASE "5.15.0-76-generic"
