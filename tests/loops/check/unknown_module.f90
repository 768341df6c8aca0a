! A name from a module that is not at hand.
! flags: --gpu=cuda
! expect: 10:12: error: 'something' is not declared here and may come from module 'somewhere', which is not at hand
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
