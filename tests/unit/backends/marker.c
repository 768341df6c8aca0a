/* A library without content, to be looked for. */
extern const int marker;
__attribute__((visibility("default"))) const int marker = 1;
