! Input and output of all kinds, also of procedures, are on the list of every device; each failing loop is reported.
! flags: --gpu=cuda
! expect: 18:5: error: input/output ('write') cannot run on the device
! expect: 31:7: error: input/output ('print') cannot run on the device
! expect: 36:5: error: input/output ('read') cannot run on the device
! expect: 39:5: error: input/output ('inquire') cannot run on the device
module logs
  implicit none
contains
  pure subroutine name_of(k, text)
    integer, intent(in) :: k
    character(*), intent(out) :: text
    if (k > 0) call number(k, text)
  end subroutine
  pure subroutine number(k, text)
    integer, intent(in) :: k
    character(*), intent(out) :: text
    write (text, '(i0)') k
  end subroutine
end module
program input_output
  use logs
  implicit none
  character(8) :: texts(5)
  integer :: i, a(5)
  do concurrent (i = 1:5)
    call name_of(i, texts(i))
  end do
  do concurrent (i = 1:5)
    if (a(i) > 3) then
      print *, i
    end if
    write (texts(i), '(i0)') i
  end do
  do concurrent (i = 1:5)
    read (texts(i), *) a(i)
  end do
  do concurrent (i = 1:5)
    inquire (6, number=a(i))
  end do
end program
