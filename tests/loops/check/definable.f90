! flags: --gpu=cuda_cpu
! expect: 24:5: error: 'given' has intent(in) and cannot change
! expect: 25:5: error: 'array' has intent(in) and cannot change
! expect: 26:5: error: 'limit' is a named constant and cannot change
! expect: 27:5: error: 'guarded' is protected by its module and cannot change
! expect: 28:14: error: 'given' has intent(in) and cannot change
! The host compiler does not see the statements of a kernel.
module with_state
  implicit none
  integer, protected :: guarded = 3
contains
  pure subroutine set(x)
    integer, intent(out) :: x
    x = 1
  end subroutine
end module
subroutine definable(given, array, n)
  use with_state
  implicit none
  integer, intent(in) :: given, n, array(n)
  integer, parameter :: limit = 2
  integer :: i
  do concurrent (i = 1:n)
    given = i
    array(i) = i
    limit = i
    guarded = i
    call set(given)
  end do
end subroutine
