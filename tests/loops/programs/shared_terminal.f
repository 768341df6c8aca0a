! Loops around a loop on the device that end at its last statement.
! launches: 6
      program shared_terminal
      implicit none
      integer i, j, k, a(5)
      a = 0
      do 10 k = 1, 3
      do 10, j = 1, 2
      do 10 concurrent (i = 1:5)
   10 a(i) = a(i) + k*i + j
      do i = 1, 5
      if (a(i) .ne. 12*i + 9) error stop 1
      end do
      print *, 'ok'
      end program
