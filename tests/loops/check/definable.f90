! flags: --gpu=cuda_cpu
! expect: 30:5: error: 'given' has intent(in) and cannot change
! expect: 31:5: error: 'array' has intent(in) and cannot change
! expect: 32:5: error: 'limit' is a named constant and cannot change
! expect: 33:5: error: 'guarded' is protected by its module and cannot change
! expect: 34:14: error: 'given' has intent(in) and cannot change
! expect: 35:13: error: 'hidden' is a private component of another module
! The host compiler does not see the statements of a kernel.
module with_state
  implicit none
  integer, protected :: guarded = 3
  type :: closed
    private
    integer :: hidden = 1
  end type
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
  integer :: i, k
  type(closed) :: c
  do concurrent (i = 1:n)
    given = i
    array(i) = i
    limit = i
    guarded = i
    call set(given)
    k = i + c%hidden
  end do
end subroutine
