#define UTS_RELEASE "5.4.0-149-generic"
