! DEC and Cray extensions; needs -fdec -fcray-pointer.
subroutine dec
   implicit none
   structure /point/
      integer x, y
      union
         map
            real r
         end map
         map
            integer i
         end map
      end union
      structure /inner/ in, arr(3)
         byte b
      end structure
   end structure
   record /point/ p, q(4)
   integer n
   parameter n = 4
   integer*8 ptr
   real pointee(10)
   pointer (ptr, pointee)
   integer, automatic :: a
   integer, static :: s
   p.x = 1
   p.in.b = q(2).arr(1).b
   q(3).y = p.x + q(1).x
   if (p.x .eq. 1 .and. p.y.gt.2) p%y = 3
   ptr = %loc(a)
   call f(%val(a), %ref(s), %loc(s))
   type *, p.x
   a = 3 .xor. 5
end subroutine
