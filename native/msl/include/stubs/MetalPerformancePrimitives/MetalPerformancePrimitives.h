#error "Metal Performance Primitives (Metal 4) are not available on the emulated device"
