! Keywords are names too.
program program
   implicit none
   integer :: integer, real, if(2), do, end, call, data, type, where, print, write(3), format(2), select, case
   integer :: function, subroutine, module, contains, interface, use, allocate(2), stop, return, block, else, forall(2)
   type then
      integer :: type, if, end
   end type then
   type(then) :: else_if
   integer = 1; real = integer
   if (1) = 2; if (if(1) == 2) if (2) = 3
   do = 4
   do do = 1, 3
      end = do
   end do
   call = 1; data = 2; type = 3; where = 4; print = 5
   write(1) = 1; write (2) = write(1)
   format(1) = 3
   select = 1; case = select
   function = 1; subroutine = 2; module = 3; contains = 4; interface = 5; use = 6
   allocate(1) = 1; allocate (2) = allocate(1)
   stop = 1; return = 2; block = 3; else = 4; forall(1) = 5
   else_if%type = else_if%if + else_if%end
   if (else == 4) else = 5
   if (if(1) > 0) then; if(1) = 0; else if (else > 1) then; else = 1; else; end = 1; end if
   print *, print, write
end program program
