! Directives and conditional compilation.
subroutine directives(x, n)
   integer, intent(in) :: n
   real, intent(inout) :: x(n)
   integer :: i
!$ integer :: threads
!dir$ assume_aligned x:64
!$omp declare target
!$omp parallel do &
!$omp & private(i) &
!$omp   shared(x) ! a comment
   do i = 1, n
      !$omp atomic
      x(i) = x(i) + 1
      !$acc loop
   end do
!$omp end parallel do
!$ threads = omp_get_num_threads() + &
!$ & 1
!GCC$ unroll 4
   do i = 1, n
      x(i) = 0
   end do
   x(1) = 1 + & !$omp not here
          !$omp nor here
          2
end subroutine
