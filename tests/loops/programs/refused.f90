! Each loop has its one outcome: what is on the unsupported list is an error at its place, and the other loops do not
! hide it.
! expect: 15:5: error: input/output ('print') cannot run on the device
! expect: 18:17: error: real(16) ('q') cannot run on the device
! expect: 21:12: error: 'external_one' cannot be called on the device
program refused
  implicit none
  interface
    pure integer function external_one(k)
      integer, intent(in) :: k
    end function
  end interface
  integer :: i, a(9); real(16) :: q(9); real :: x(9)
  do concurrent (i = 1:9)
    print *, i
  end do
  do concurrent (i = 1:9)
    x(i) = real(q(i))
  end do
  do concurrent (i = 1:9)
    a(i) = external_one(i)
  end do
  do concurrent (i = 1:9)
    a(i) = i
  end do
end program
