! at: 15
program input_output
  implicit none
  integer :: i, a(4)
  do concurrent (i = 1:4)
    a(i) = digits(10**i)
  end do
  if (any(a /= [2, 3, 4, 5])) error stop 1
  print *, 'ok'
contains
  pure integer function digits(k)
    integer, intent(in) :: k
    character(12) :: text
    text = ''
    write (text, '(i0)') k
    digits = len_trim(text)
  end function
end program
