! error stop with a text, in a procedure that the loop calls.
! stops: ERROR STOP too large: 7
program stop_text
  implicit none
  integer :: i, a(100)
  do concurrent (i = 1:100)
    a(i) = checked(i)
  end do
  print *, a
contains
  pure integer function checked(k)
    integer, intent(in) :: k
    checked = k
    if (k == 7) error stop 'too large: ' // achar(48 + k)
    if (k == 9) error stop 9
  end function
end program
