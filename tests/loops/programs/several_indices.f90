! Several indices of both directions.  The first one runs fastest; what is not in the section stays.
! launches: 2
program several_indices
implicit none
integer :: i,j,k
integer(2) :: s
real(8) :: a(100,50), b(100,50), c(0:9,5,-3:3)
b = 1
a = 7
do concurrent (i=1:100, j=1:50)
 a(i,j) = b(i,j)*i+j
end do
do j=1,50; do i=1,100; if (a(i,j) /= i+j) error stop 1; end do; end do
c = 0
do concurrent (i=9:0:-3, j=1:5, k=-3:3)
 c(i,j,k) = i + 100*j + 1000*k
end do
do k=-3,3; do j=1,5; do i=0,9
 if (mod(i,3) == 0) then
  if (c(i,j,k) /= i + 100*j + 1000*k) error stop 2
 else
  if (c(i,j,k) /= 0) error stop 3
 end if
end do; end do; end do
print *, 'ok'
end program
