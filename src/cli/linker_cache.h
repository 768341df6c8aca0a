/* The libraries that the dynamic linker knows by name. */
#ifndef OFL_CLI_LINKER_CACHE_H
#define OFL_CLI_LINKER_CACHE_H

/* Calls `found` for each library in the dynamic linker's cache, in its order. */
void ofl_cli_linker_cache(void (*found)(const char *name, const char *path, void *context), void *context);
#endif
