! launches: 3
! What looks as if it could not change, and may: the target of a pointer, a module's own protected variable.
module guard
  implicit none
  integer, protected :: guarded(4) = 0
  type :: holder
    integer, pointer :: p(:)
  end type
contains
  subroutine fill(n)
    integer, intent(in) :: n
    integer :: i
    do concurrent (i = 1:n)
      guarded(i) = i
    end do
  end subroutine
  subroutine through(h, q)
    type(holder), intent(in) :: h
    integer, pointer, intent(in) :: q(:)
    integer :: i
    do concurrent (i = 1:size(q))
      h%p(i) = 2 * i
    end do
    do concurrent (i = 1:size(q))
      q(i) = 3 * i
    end do
  end subroutine
end module
program definable
  use guard
  implicit none
  integer, target :: a(4) = 0, b(4) = 0
  integer, pointer :: q(:)
  type(holder) :: h
  h%p => a
  q => b
  call fill(4)
  call through(h, q)
  if (any(guarded /= [1, 2, 3, 4]) .or. any(a /= [2, 4, 6, 8]) .or. any(b /= [3, 6, 9, 12])) error stop 'wrong'
  print '(a)', 'ok'
end program
