/* Where profiles lie, and reading and writing them there.
 *
 * One file a machine and device kind, named by a hash of the machine, so that computers which share a
 * home folder keep theirs apart.  A profile is replaced in one step: the new text is written beside the old
 * one and renamed over it, so an interrupted calibration loses nothing. */
#ifndef OFL_PROFILE_STORE_H
#define OFL_PROFILE_STORE_H
#include "model/profile.h"

enum ofl_profile_found {
    OFL_PROFILE_USED,    /* *out is the profile */
    OFL_PROFILE_NONE,    /* there is no file */
    OFL_PROFILE_REFUSED, /* there is one, and `explanation` says in one line why it is not used */
};

/* The default file for a machine and a kind of device ("cuda", "host"): in $XDG_CONFIG_HOME/gpu-offload, else
 * ~/.config/gpu-offload.  False if there is no home folder or the path does not fit. */
bool ofl_profile_path(const struct ofl_profile_key *here, const char *kind, char *path, size_t size);

/* Reads the profile at `path` and checks that it is of the machine `here`. */
enum ofl_profile_found ofl_profile_load(const char *path, const struct ofl_profile_key *here, struct ofl_profile *out,
                                        char *explanation, size_t size);

/* Whether a profile can be written there, so that nobody measures for minutes in vain; makes the folders. */
bool ofl_profile_can_save(const char *path, char *explanation, size_t size);

/* Writes the profile to `path` in one step; makes the folders.  On failure the old file is as it was and
 * `explanation` says why. */
bool ofl_profile_save(const char *path, const struct ofl_profile *profile, char *explanation, size_t size);

/* True the first time that it is called on this machine for this kind of device, in whatever process: the
 * time to recommend a calibration.  False later, and where nothing can be remembered. */
bool ofl_profile_recommend_once(const struct ofl_profile_key *here, const char *kind);
#endif
