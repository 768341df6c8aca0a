! A name from a module that is not at hand.
! flags: --gpu=cuda
program unknown_module
  use somewhere
  implicit none
  real :: x(5)
  integer :: i
  do concurrent (i = 1:5)
    x(i) = something(i)
  end do
  do concurrent (i = 1:5)
    x(i) = i
  end do
end program
