! Statement functions count by what they evaluate.
! flags: --gpu=metal
! expect: 13:3: error: not yet implemented: a loop on Metal (--gpu=metal)
! expect: 17:17: error: real(8) (the result of 'wide') cannot run on the device
program statement_functions
  implicit none
  real :: x(5), single, twice, v
  real(8) :: wide, w
  integer :: i
  single(v) = v*2
  twice(v) = single(single(v)) + single(v)
  wide(w) = w/3
  do concurrent (i = 1:5)
    x(i) = twice(x(i))
  end do
  do concurrent (i = 1:5)
    x(i) = real(wide(real(x(i), 4) + 0d0))
  end do
end program
