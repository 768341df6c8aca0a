/* `gpu-offload fc`: a Fortran compiler with gfortran's command line.
 *
 * What it does: finds the inputs that hold parallel loops, translates each of them (translate.h), and gives the host
 * compiler the same command with the translated files in their place.  A command without such a file goes to the host
 * compiler as it is, in place of this process. */
#ifndef OFL_FORTRAN_DRIVER_H
#define OFL_FORTRAN_DRIVER_H

/* Runs the command; argv holds the words behind `gpu-offload fc`.  Returns its exit status: the host compiler's, or 1
 * after an error of ours, which has been printed. */
int ofl_fortran_main(int argc, char **argv);
#endif
