#define UTS_RELEASE "6.5.0-1019-nvidia-64k"
