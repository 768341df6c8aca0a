! Every executable construct, named and unnamed, nested and in one line.
subroutine constructs(x, n, any, ranked)
   implicit none
   integer, intent(in) :: n
   real, intent(inout) :: x(n)
   class(*), intent(in) :: any
   real, intent(in) :: ranked(..)
   integer :: i, j, k, if, then, do, end
   logical :: m(n)
   outer: do i = 1, n
      inner: do while (x(i) > 0)
         x(i) = x(i) - 1
         if (x(i) > 10) cycle outer
         if (x(i) > 5) exit inner
      end do inner
   end do outer
   do
      exit
   end do
   do, i = n, 1, -1; x(i) = i; enddo
   do 10, i = 1, n
10    x(i) = x(i)*2
   do 20 i = 1, n
      do 20 j = 1, n
20 x(i) = x(i) + j
   do 30 while (k < 3)
      k = k + 1
30 continue
   do concurrent (i = 1:n)
      x(i) = i
   end do
   do concurrent (i = 1:n, j = n:1:-1, mod(i + j, 2) == 0 .and. i /= j)
      x(i) = j
   end do
   forall (i = 1:n, x(i) > 0) x(i) = -x(i)
   named: forall (i = 1:n:2)
      x(i) = 0
      where (m) x = 1
      forall (j = 1:2) x(j) = j
   end forall named
   where (x > 0)
      x = sqrt(x)
   elsewhere (x < -1)
      x = 0
   elsewhere
      x = 1
   end where
   masks: where (m)
      where (x > 0) x = -1
      x = 2
   elsewhere masks
      x = 3
   end where masks
   check: if (n > 1) then
      k = 1
   else if (n == 1) then check
      k = 2
   elseif (n == 0) then
      k = 3
   else check
      k = 4
   endif check
   select case (k)
   case (:-1, 1, 3:5, 7:)
      k = 1
   case default
      k = 2
   end select
   pick: select case ('a'//'b')
   case ('ab':'cd') pick
      k = 3
   endselect pick
   select type (any)
   type is (integer(4))
      k = any
   type is (character(*))
      k = len(any)
   class default
      k = 0
   end select
   select type (thing => any)
   type is (real)
      x(1) = thing
   end select
   select rank (ranked)
   rank (0)
      x(1) = ranked
   rank (1)
      x(1:size(ranked)) = ranked
   rank (*)
      k = 1
   rank default
      k = 2
   end select
   block
      integer, save :: counter = 0
      counter = counter + k
   end block
   associate (y => x(1:3), z => x(1) + 2, v => (k))
      y = z
   end associate
   crit: critical
      k = k + 1
   end critical crit
   if (k == 1) then; k = 2; else; k = 3; end if
   if = 1; then = 2; do = 3; end = if + then*do
   if (if == then) do = end
   if (if - then) 40, 50, 60
40 continue
50 go to 60
60 goto (40, 50, 70), k
70 end = 4
end subroutine constructs
