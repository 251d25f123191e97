#define UTS_RELEASE "5.15.0-107-lowlatency"
