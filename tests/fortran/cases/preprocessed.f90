# 1 "solver.F90"
# 1 "<built-in>"
# 1 "<command-line>"
# 1 "solver.F90"
subroutine solver(x)
# 1 "kinds.h" 1
integer, parameter :: wp = 8
# 3 "solver.F90" 2
real(wp) :: x(:)

x = 1 + &
# 10 "solver.F90"
    2
end subroutine
